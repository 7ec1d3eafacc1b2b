// The one object that stands for a message of a session, whoever hands over a copy of it.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { createNotes, isFixed, markAsFixed } from "@clew/plugin-sdk/host";
import { dequal } from "dequal/lite";

/** Different contents kept per message id: as stored, and as policies or engines changed it. */
const MAX_VARIANTS = 4;
/** Messages without an id, of which only the newest are remembered. */
const MAX_NAMELESS = 512;

/**
 * Copies in, one frozen object out, so that what is known of a message holds for every copy of it.
 * Private to one session.
 */
export interface MessageTable {
  /** The object for `message`: the very one it was given, if it is one of the table's. */
  canonical(message: AgentMessage): AgentMessage;
}

export function createMessageTable(): MessageTable {
  const known = createNotes<AgentMessage, true>();
  const byId = new Map<string, AgentMessage[]>();
  const nameless = new Map<string, AgentMessage>();
  const adopt = (message: AgentMessage): AgentMessage => {
    const mine = isFixed(message) ? message : fixedCopy(message);
    known.set(mine, true);
    return mine;
  };
  const named = (message: AgentMessage, id: string): AgentMessage => {
    const variants = byId.get(id) ?? [];
    const same = variants.find((variant) => dequal(variant, message));
    if (same !== undefined) return same;
    const mine = adopt(message);
    byId.set(id, [mine, ...variants].slice(0, MAX_VARIANTS));
    return mine;
  };
  const unnamed = (message: AgentMessage): AgentMessage => {
    const key = JSON.stringify(message);
    const same = nameless.get(key);
    if (same !== undefined) return same;
    const mine = adopt(message);
    nameless.set(key, mine);
    if (nameless.size > MAX_NAMELESS) nameless.delete(nameless.keys().next().value!);
    return mine;
  };
  return {
    canonical(message) {
      if (known.get(message)) return message;
      const id = messageId(message);
      return id === undefined ? unnamed(message) : named(message, id);
    },
  };
}

/** Plain data that nobody can change any more; strings are shared. */
function fixedCopy(message: AgentMessage): AgentMessage {
  const copy = copyOf(message);
  markAsFixed(copy);
  return Object.freeze(copy) as object as AgentMessage;
}

/** Its parts are frozen. */
function copyOf(value: object): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value))
    if (inner !== undefined && key !== "__proto__") copy[key] = frozenCopy(inner);
  return copy;
}

function frozenCopy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.freeze(Array.isArray(value) ? value.map(frozenCopy) : copyOf(value));
}
