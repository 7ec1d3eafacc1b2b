// The recall tools that a session is offered.
import type { PluginTool, SessionRef } from "@clew/plugin-sdk/core";
import type { Store } from "../store/store.ts";
import { DESCRIBE_PARAMETERS, describe } from "./describe.ts";
import { EXPAND_PARAMETERS, type ExpandArguments, expand } from "./expand.ts";
import { type Complete, EXPAND_QUERY_PARAMETERS, expandQuery } from "./expand-query.ts";
import type { Grants } from "./grants.ts";
import { GREP_PARAMETERS, grep } from "./grep.ts";
import type { Reach } from "./reach.ts";
import { textResult } from "./result.ts";

/** A tool that is made for each session. */
export interface RecallTool {
  readonly name: string;
  /** Null: it is not offered there. */
  of(session: Partial<SessionRef>): PluginTool | null;
}

/** How a call of a tool goes. */
export interface RecallContext {
  /** Ends it. Absent: the host cannot. */
  readonly signal?: AbortSignal | undefined;
  /** Of the session's model, in tokens; hosts cut longer results by it. Absent: not known. */
  readonly contextWindow?: number | undefined;
}

/** What the tools work with. */
export interface RecallParts {
  readonly reach: Reach;
  readonly grants: Grants;
  /** Asks the session's model. Absent: there is none. */
  readonly complete?: Complete | undefined;
}

/** Hosts need not ask a person before such a tool runs. */
const READ_ONLY = { annotations: { readOnlyHint: true } };

/**
 * They read what the engine stored of the session, or of the one that a child was granted; the
 * manifest declares them.
 */
export const recallTools = ({ reach, grants, complete }: RecallParts): readonly RecallTool[] => [
  recallTool(reach, {
    name: "lcm_grep",
    label: "Search the record",
    description:
      "Searches every message ever said in this session, shown or not, by words or by a regular expression.",
    parameters: GREP_PARAMETERS,
    answer: grep,
  }),
  recallTool(reach, {
    name: "lcm_describe",
    label: "Read the record",
    description:
      "Shows stored messages whole, by number, range of numbers or id, and what a file said at any turn, by its path.",
    parameters: DESCRIBE_PARAMETERS,
    answer: describe,
  }),
  recallTool(reach, {
    name: "lcm_expand_query",
    label: "Ask the record",
    description:
      "Answers a question from everything ever said in this session, and names the messages it relies on.",
    parameters: EXPAND_QUERY_PARAMETERS,
    answer: expandQuery(complete),
  }),
  {
    name: "lcm_expand",
    of: ({ sessionKey }) =>
      grants.of(sessionKey) === undefined
        ? null
        : {
            ...READ_ONLY,
            name: "lcm_expand",
            label: "Read the parent's record",
            description: "Shows what the session that started this one knows of some words.",
            parameters: EXPAND_PARAMETERS,
            execute: (_callId, params, signal) =>
              expand({ reach, grants }, sessionKey, params as ExpandArguments, signal),
          },
  },
];

function recallTool<Asked>(
  reach: Reach,
  {
    answer,
    ...tool
  }: Omit<PluginTool, "execute"> & {
    answer(
      store: Store,
      session: SessionRef,
      asked: Asked,
      context: RecallContext,
    ): ReturnType<PluginTool["execute"]>;
  },
): RecallTool {
  return {
    name: tool.name,
    of({ sessionId = "", sessionKey }) {
      const session = { sessionId, ...(sessionKey !== undefined && { sessionKey }) };
      return {
        ...tool,
        ...READ_ONLY,
        execute(_callId, params, signal) {
          const store = reach.storeOf(session);
          return store === undefined
            ? textResult("Nothing of this session is stored: there is nothing to search.")
            : answer(store, session, params as Asked, {
                signal,
                contextWindow: reach.windowOf(session),
              });
        },
      };
    },
  };
}
