// Which conversation a client says that a request belongs to.
import { isRecord } from "@clew/plugin-sdk/host";
import { fromJson } from "../../own-json.ts";
import { contentHash } from "../../text/content-hash.ts";
import type { JsonObject } from "../wires/door-wire.ts";

/** What a client tells of a request beside its messages. */
export interface ClientKey {
  /** The conversation, among all clients. Absent: the client has no name for it. */
  key?: string;
  /** The conversation that started this one as a subagent. Absent: none, or not told. */
  parent?: string;
  /** What a conversation shares with its subagents; no key. Absent: nothing is told. */
  family?: string;
  /** The reply that it goes on from, of which its model server has the history. Absent: none. */
  behind?: string;
  /** True: the client says that it compacts its history. */
  compacts: boolean;
}

/** Names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>;

export function clientKeyOf(headers: Headers, body: JsonObject): ClientKey {
  const family = named("family", body.prompt_cache_key);
  const compacts =
    headers["x-interaction-type"] === "conversation-compaction" ||
    kindOfTurn(headers, body) === "compaction";
  const { previous_response_id: behind } = body;
  return {
    ...keysOf(headers, body),
    ...(family && { family }),
    ...(typeof behind === "string" && behind !== "" && { behind: keptReply(behind) }),
    compacts,
  };
}

function keysOf(headers: Headers, body: JsonObject): { key?: string; parent?: string } {
  const claude = headers["x-claude-code-session-id"] ?? claudeSession(body);
  if (claude) {
    const agent = headers["x-claude-code-agent-id"];
    const main = named("claude-code", claude);
    return agent ? pair(named("claude-code", `${claude} ${agent}`), main) : pair(main);
  }
  const codex = headers["thread-id"];
  if (codex)
    return pair(named("codex", codex), named("codex", headers["x-codex-parent-thread-id"]));
  return pair(
    named("opencode", headers["x-session-id"]),
    named("opencode", headers["x-parent-session-id"]),
  );
}

/** By what a reply is remembered whose history its model server has. */
export const keptReply = (id: string): string => contentHash(`reply ${id}`);

const pair = (key: string | undefined, parent?: string) =>
  key === undefined ? {} : { key, ...(parent !== undefined && parent !== key && { parent }) };

const LONGEST = 120;

/** Undefined for what is no name; what is too long for one is known by its hash. */
function named(client: string, name: unknown): string | undefined {
  if (typeof name !== "string" || name.trim() === "") return undefined;
  return `${client}:${name.length > LONGEST ? contentHash(name) : name}`;
}

function claudeSession(body: JsonObject): string | undefined {
  const { metadata } = body;
  const told = isRecord(metadata) ? objectIn(metadata.user_id) : undefined;
  return typeof told?.session_id === "string" ? told.session_id : undefined;
}

function kindOfTurn(headers: Headers, body: JsonObject): unknown {
  const told = objectIn(headers["x-codex-turn-metadata"]);
  const own = isRecord(body.client_metadata) ? body.client_metadata : {};
  return (
    told?.request_kind ?? own.request_kind ?? objectIn(own["x-codex-turn-metadata"])?.request_kind
  );
}

function objectIn(json: unknown): JsonObject | undefined {
  if (typeof json !== "string" || !json.startsWith("{")) return undefined;
  try {
    const value: unknown = fromJson(json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
