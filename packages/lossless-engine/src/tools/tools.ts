// The recall tools that a session is offered.
import type { PluginTool, SessionRef } from "@clew/plugin-sdk/core";
import { unreadBeside } from "../ingest/siblings.ts";
import { patiently } from "../patiently.ts";
import { bringOthers, describeLacking } from "../sharing/others.ts";
import type { Store } from "../store/store.ts";
import { checkArguments, type Parameters } from "./arguments.ts";
import type { Research } from "./by-session.ts";
import { DESCRIBE_PARAMETERS, describe } from "./describe.ts";
import { EXPAND_PARAMETERS, type ExpandArguments, expand } from "./expand.ts";
import { type Complete, EXPAND_QUERY_PARAMETERS, expandQuery } from "./expand-query.ts";
import type { Grants } from "./grants.ts";
import { GREP_PARAMETERS, grep } from "./grep.ts";
import { type Asked, mayRead, paidBy } from "./may-read.ts";
import type { Reach } from "./reach.ts";
import type { RecallContext } from "./recall-context.ts";
import { textResult } from "./result.ts";

/** A tool that is made for each session. */
export interface RecallTool {
  readonly name: string;
  /** Null: it is not offered there. */
  of(session: Partial<SessionRef>): PluginTool | null;
}

/** What the tools work with. */
export interface RecallParts {
  readonly reach: Reach;
  readonly grants: Grants;
  /** Whether the engine answers in the session of this key. Absent: it does in all. */
  readonly isOffered?: ((sessionKey: string | undefined) => boolean) | undefined;
  /** Asks the session's model. Absent: there is none. */
  readonly complete?: Complete | undefined;
  /** Has a session look through the record. Absent: none can be had. */
  readonly research?: Research | undefined;
  /** How long a search may take, ms. Absent: 5,000. */
  readonly searchMs?: number | undefined;
}

/** Hosts need not ask a person before such a tool runs. */
const READ_ONLY = { annotations: { readOnlyHint: true } };

/**
 * They read what the engine stored of the session, or of the one that a child was granted; the
 * manifest declares them.
 */
export const recallTools = (parts: RecallParts): readonly RecallTool[] => [
  recallTool(parts, {
    name: "lcm_grep",
    label: "Search the record",
    description:
      "Searches every message ever said in this session, shown or not, by words or by a regular expression.",
    parameters: GREP_PARAMETERS,
    answer: grep,
  }),
  recallTool(parts, {
    name: "lcm_describe",
    label: "Read the record",
    description:
      "Shows stored messages whole, by number, range of numbers or id, and what a file said at any turn, by its path. What stands between <stored …> and </stored …> is quoted exactly; nothing else here is.",
    parameters: DESCRIBE_PARAMETERS,
    answer: describe,
  }),
  recallTool(parts, {
    name: "lcm_expand_query",
    label: "Ask the record",
    description:
      "Answers a question from everything ever said in this session, and names the messages it relies on.",
    parameters: EXPAND_QUERY_PARAMETERS,
    answer: expandQuery({ complete: parts.complete, research: parts.research }),
  }),
  {
    name: "lcm_expand",
    of: (session) =>
      parts.grants.of(session.sessionKey) === undefined
        ? null
        : {
            ...READ_ONLY,
            name: "lcm_expand",
            label: "Read the parent's record",
            description: "Shows what the session that started this one knows of some words.",
            parameters: EXPAND_PARAMETERS,
            async execute(_callId, params, signal) {
              const checked = checkArguments<ExpandArguments>(
                "lcm_expand",
                EXPAND_PARAMETERS,
                params,
              );
              return textResult(
                checked.isRight ? await expand(parts, session, checked.asked, signal) : checked.why,
              );
            },
          },
  },
];

/** A tool that reads what the engine stored of the session that calls it. */
interface Reading<Arguments extends Asked> extends Omit<PluginTool, "execute" | "parameters"> {
  readonly parameters: Parameters & Record<string, unknown>;
  answer(store: Store, asked: Arguments, context: RecallContext): Promise<string>;
}

function recallTool<Arguments extends Asked>(
  parts: RecallParts,
  { answer, ...tool }: Reading<Arguments>,
): RecallTool {
  const { reach, grants, isOffered, searchMs } = parts;
  return {
    name: tool.name,
    of({ sessionId = "", sessionKey }) {
      if (isOffered !== undefined && !isOffered(sessionKey)) return null;
      const given = { sessionId, ...(sessionKey !== undefined && { sessionKey }) };
      return {
        ...{ ...tool, ...READ_ONLY },
        async execute(callId, params, signal) {
          const checked = checkArguments<Arguments>(tool.name, tool.parameters, params);
          if (!checked.isRight) return textResult(checked.why);
          const { asked } = checked;
          const session = reach.asMet(given);
          const own = reach.storeOf(session);
          if (own === undefined) return textResult(NOTHING_STORED);
          const isOpen = asked.allConversations === true && !grants.isChild(sessionKey);
          const beside = isOpen ? reach.besideOf(session) : undefined;
          const store = beside ?? own;
          const places = isOpen ? reach.sharedOf(session) : undefined;
          const bounds = { boundMs: searchMs ?? BRING_MS, signal };
          const lacking = places && (await bringOthers(store, session, { places, ...bounds }));
          const may = await patiently(() => mayRead(parts, { store, session, asked }), signal);
          if (may.kind === "refused") return textResult(may.why);
          const { scope, grant, note } = may;
          // They may be read for the first time, as into a new database.
          const unread = await unreadBeside(store, scope === null ? null : (sessionKey ?? ""));
          const text = await answer(store, asked, {
            ...{ session, callId, scope, searchMs, signal },
            contextWindow: reach.windowOf(session),
            workspace: reach.workspaceOf(session),
            tokensLeft: grant?.left.tokens,
          });
          const behind = reach.behind(session);
          const noted = [text, note, behind, unread, describeLacking(lacking), beside && BESIDE]
            .filter((part) => part !== undefined)
            .join("\n\n");
          if (grant === undefined) return textResult(noted);
          // Time went on meanwhile.
          return textResult(grants.of(sessionKey) === grant ? paidBy(grant, noted) : ENDED);
        },
      };
    },
  };
}

/** How long other sessions' messages may take to come from elsewhere. */
const BRING_MS = 5_000;
const NOTHING_STORED =
  "Nothing of this session is stored, or another engine answers in it: there is nothing to search.";
const BESIDE =
  "This session leaves nothing in the database: what it said itself is found without allConversations.";
const ENDED = "What this session was granted of another one has ended.";
