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

/** Null: no list came. Throws only when `signal` says so. */
export async function offeredModels(request: OfferedRequest): Promise<string[] | null> {
  const { baseUrl, headers = {}, timeoutMs, signal } = request;
  const limits = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
  try {
    const answer = await fetch(`${baseUrl.replace(/\/$/, "")}/models`, {
      headers,
      // Nowhere else: the headers may hold a key.
      redirect: "manual",
      signal: AbortSignal.any(limits),
    });
    const text = await answer.text();
    const body: unknown = JSON.parse(text.slice(0, MOST));
    if (!answer.ok || !isRecord(body) || !Array.isArray(body.data)) return null;
    return body.data.flatMap((each) =>
      isRecord(each) && typeof each.id === "string" && /^[^\s"\\]+$/.test(each.id) ? [each.id] : [],
    );
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}
