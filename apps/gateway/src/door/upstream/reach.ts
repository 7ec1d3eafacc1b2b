// Asks the model server that a request is for, signed in as the settings want it.
import { isAbort } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { classifyError } from "@clew/providers";
import { SignInError } from "../../credentials/credential.ts";
import type { Host } from "../../host/host.ts";
import { patience } from "../../models/patience.ts";
import { askUpstream, type UpstreamAnswer } from "../../passing/ask-upstream.ts";
import { hideKeys } from "../../passing/hide-keys.ts";
import { headersOnward } from "../../passing/pass-headers.ts";
import type { DoorVisit } from "../call/door-call.ts";
import type { DoorParts } from "../call/parts.ts";
import type { Upstream } from "./find-upstream.ts";
import { addressOnward } from "./place-upstream.ts";

export interface Reached {
  visit: DoorVisit;
  upstream: Upstream;
  body: Uint8Array;
  signal: AbortSignal;
  /** True: an answer may have no body. Absent: a reply is asked for. */
  mayBeEmpty?: true;
  /** True: the answer may not be packed, as it is read here. Absent: its client reads it. */
  isUnpacked?: boolean;
}

/** No answer; one sentence says why. */
export interface Unreached {
  status: number;
  problem: string;
  /** Absent: "network". */
  kind?: ModelError["kind"];
  /** As of a model's error. */
  unsent?: true;
}

const USUAL_IDLE_MS = 240_000;

/** Asks a model by its own wire, and gives the answer in the client's. */
export type AskAcross = (asked: Reached) => Promise<UpstreamAnswer>;

/** Throws an AbortError, and nothing else that is not a bug. */
export async function reach(
  {
    host,
    across,
    tokens,
  }: Pick<DoorParts, "tokens"> & {
    host: Pick<Host, "signInHeaders">;
    across: AskAcross;
  },
  asked: Reached,
): Promise<UpstreamAnswer | Unreached> {
  const { visit, upstream, body, signal, isUnpacked = false, mayBeEmpty = false } = asked;
  if (upstream.across) return across(asked);
  const { resolved, settings } = upstream;
  const { model, endpoint } = resolved;
  const origin = { provider: model.provider, api: model.api, endpoint, now: Date.now };
  try {
    const key = settings.key === "client" ? {} : await host.signInHeaders(resolved);
    const passesKey = Object.keys(key).length === 0;
    const own = {
      ...key,
      ...lowerCaseNames(endpoint.headers ?? {}),
      ...(isUnpacked && { "accept-encoding": "identity" }),
    };
    const came = await askUpstream({
      method: visit.method,
      url: addressOnward({ model, endpoint }, visit, { passesKey, tokens }),
      headers: headersOnward({ headers: visit.headers, own, passesKey, tokens }),
      ...{ body, signal },
      idleMs: patience(resolved).idleTimeoutMs ?? USUAL_IDLE_MS,
    });
    const kind = kindOf(came.status);
    if (kind === "usual" || (kind === "empty" && mayBeEmpty)) return hideKeys(came, own);
    // Of its body nothing is of use, however much there is.
    for await (const _ of came.bytes) break;
    const who = `Provider "${model.provider}"`;
    if (kind !== "redirect") {
      const problem = `${who} answered with status ${came.status}, with which no reply comes; see whether the base URL is that of a model server.`;
      return { status: 502, problem, kind: "invalid_response" };
    }
    const problem = `${who} sent the request on (${came.status}), which is not followed because it holds the key; make the right address the base URL.`;
    return { status: 502, problem, kind: "not_found" };
  } catch (error) {
    if (signal.aborted || isAbort(error)) throw error;
    if (error instanceof SignInError) return { status: 502, problem: error.message, unsent: true };
    const { kind, message, unsent } = classifyError(
      { kind: "network", cause: error, started: false },
      origin,
    );
    const status = kind === "timeout" ? 504 : 502;
    return { status, problem: message, ...(unsent && { unsent }) };
  }
}

/** "odd": of those that no client could take. */
function kindOf(status: number): "usual" | "empty" | "redirect" | "odd" {
  if (EMPTY.has(status)) return "empty";
  if (status < 200 || status > 599) return "odd";
  return status >= 300 && status < 400 ? "redirect" : "usual";
}

/** With these no body comes. */
const EMPTY = new Set([204, 205, 304]);

const lowerCaseNames = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
