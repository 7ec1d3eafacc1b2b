// Asks a model server which models it has, by the list that most of them give out.
import { isRecord } from "@clew/plugin-sdk/host";

/** Most that is read of a list, characters. */
const MOST = 1_000_000;

export interface OfferedRequest {
  baseUrl: string;
  headers?: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal?: AbortSignal;
}

export type ModelList =
  /** `isWhole`: there are no further pages, and no name stands for others. */
  | { kind: "models"; models: string[]; isWhole: boolean }
  /** It wants a key, or another one. */
  | { kind: "refused"; status: number }
  /** Somebody answered, with something else than a list. */
  | { kind: "no-list"; status: number }
  | { kind: "silent" };

/** Throws only when `signal` says so. */
export async function askForModels(request: OfferedRequest): Promise<ModelList> {
  const { baseUrl, headers = {}, timeoutMs, signal } = request;
  const limits = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
  try {
    const answer = await fetch(`${baseUrl.replace(/\/$/, "")}/models`, {
      headers,
      // Nowhere else: the headers may hold a key.
      redirect: "manual",
      signal: AbortSignal.any(limits),
    });
    const { status } = answer;
    const listed = listedIn(await answer.text());
    if (status === 401 || status === 403) return { kind: "refused", status };
    return answer.ok && listed !== null
      ? { kind: "models", models: listed.names, isWhole: listed.isWhole }
      : { kind: "no-list", status };
  } catch {
    signal?.throwIfAborted();
    return { kind: "silent" };
  }
}

/** Null: no list came. Throws only when `signal` says so. */
export async function offeredModels(request: OfferedRequest): Promise<string[] | null> {
  const list = await askForModels(request);
  return list.kind === "models" ? list.models : null;
}

/**
 * Where the models are listed, one folder below an address that answers without a list; null = not
 * there either. No key is sent.
 */
export async function addressBelow(
  { baseUrl, timeoutMs, signal }: Omit<OfferedRequest, "headers">,
  { kind }: Pick<ModelList, "kind">,
): Promise<string | null> {
  if (kind !== "no-list" || /\/v\d\w*\/?$/.test(baseUrl)) return null;
  const below = `${baseUrl.replace(/\/$/, "")}/v1`;
  const there = await askForModels({ baseUrl: below, timeoutMs, ...(signal && { signal }) });
  return there.kind === "models" || there.kind === "refused" ? below : null;
}

/**
 * Pure. The names in such a list that can be names; null = it is none. `isWhole`: there are no
 * further pages, and no name stands for others.
 */
export function listedIn(text: string): { names: string[]; isWhole: boolean } | null {
  let body: unknown;
  try {
    body = JSON.parse(text.slice(0, MOST));
  } catch {
    return null;
  }
  if (!isRecord(body)) return null;
  const listed = body.data ?? body.models;
  if (!Array.isArray(listed)) return null;
  const names = listed.flatMap((each) => {
    const { id, name } = isRecord(each) ? each : {};
    // Google's have the name of their folder before them.
    const named = id ?? (typeof name === "string" ? name.replace(/^models\//, "") : undefined);
    return typeof named === "string" && /^[^\s"\\]+$/.test(named) ? [named] : [];
  });
  const isWhole =
    body.has_more !== true &&
    body.nextPageToken === undefined &&
    names.length === listed.length &&
    !names.some((name) => name.includes("*"));
  return { names, isWhole };
}
