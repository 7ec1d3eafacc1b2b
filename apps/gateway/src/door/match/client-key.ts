// Which conversation a client says that a request belongs to.
import { isRecord } from "@clew/plugin-sdk/host";
import { programOf } from "../../listing/client-names.ts";
import { fromJson } from "../../own-json.ts";
import { contentHash } from "../../text/content-hash.ts";
import type { JsonObject } from "../wires/door-wire.ts";

/** What a client tells of a request beside its messages. */
export interface ClientKey {
  /** The conversation, among all clients. Absent: the client has no name for it. */
  key?: string;
  /** The conversation that started this one as a subagent. Absent: none, or not told. */
  parent?: string;
  /** What a conversation shares with its subagents, or with any other; no key. Absent: nothing. */
  family?: string;
  /** The reply that it goes on from, of which its model server has the history. Absent: none. */
  behind?: string;
  /** True: the client says that it compacts its history. */
  compacts: boolean;
}

/** Names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>;

export function clientKeyOf(headers: Headers, body: JsonObject): ClientKey {
  const keys = keysOf(headers, body);
  const shared = keys.key === undefined ? anybodysName(headers) : undefined;
  const family = named("family", body.prompt_cache_key) ?? named("family", shared);
  const compacts =
    headers["x-interaction-type"] === "conversation-compaction" ||
    kindOfTurn(headers, body) === "compaction";
  const { previous_response_id: behind } = body;
  return {
    ...keys,
    ...(family && { family }),
    ...(typeof behind === "string" && behind !== "" && { behind: keptReply(behind) }),
    compacts,
  };
}

function keysOf(headers: Headers, body: JsonObject): { key?: string; parent?: string } {
  const claude = headers["x-claude-code-session-id"] ?? claudeSession(headers, body);
  if (claude) {
    const agent = headers["x-claude-code-agent-id"];
    const main = named("claude-code", claude);
    return agent ? pair(named("claude-code", `${claude} ${agent}`), main) : pair(main);
  }
  if (isCodex(headers))
    return pair(
      named("codex", headers["thread-id"]),
      named("codex", headers["x-codex-parent-thread-id"]),
    );
  if (isOpencode(headers))
    return pair(
      named("opencode", headers["x-session-id"]),
      named("opencode", headers["x-parent-session-id"]),
    );
  return {};
}

/** By what a reply is remembered whose history its model server has. */
export const keptReply = (id: string): string => contentHash(`reply ${id}`);

/** Any program may send a `thread-id`, the same one for all its users. */
const isCodex = (headers: Headers): boolean =>
  programOf([headers["user-agent"], headers.originator]) === "codex" ||
  CODEX_HEADERS.some((name) => headers[name] !== undefined);

const CODEX_HEADERS = ["x-codex-window-id", "x-codex-turn-metadata", "x-codex-parent-thread-id"];

/** Likewise an `x-session-id`; programs made of opencode say it twice. */
const isOpencode = (headers: Headers): boolean => {
  const id = headers["x-session-id"];
  return (
    programOf([headers["user-agent"]]) === "opencode" ||
    (id?.startsWith("ses_") === true && id === headers["x-session-affinity"])
  );
};

/** What a program that is not known may call a conversation, or a person, or all it does. */
const anybodysName = (headers: Headers) => headers["x-session-id"] || headers["thread-id"];

const pair = (key: string | undefined, parent?: string) =>
  key === undefined ? {} : { key, ...(parent !== undefined && parent !== key && { parent }) };

const LONGEST = 120;

/** Undefined for what is no name; what is too long for one is known by its hash. */
function named(client: string, name: unknown): string | undefined {
  if (typeof name !== "string" || name.trim() === "") return undefined;
  return `${client}:${name.length > LONGEST ? contentHash(name) : name}`;
}

/** Versions that send no header have it there; so may any program. */
function claudeSession(headers: Headers, { metadata }: JsonObject): string | undefined {
  if (programOf([headers["user-agent"]]) !== "claude-code") return undefined;
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
