// Reads back what an engine has kept of a session.
import type { ContextEngine } from "../../contract/engine.ts";
import type { AgentMessage } from "../../contract/message.ts";
import type { SessionRef } from "../../contract/session.ts";
import { call } from "../engine-call.ts";

/** What an engine may offer beside the contract, so that the kit can read what it stored. */
export interface ReadableEngine extends ContextEngine {
  /** All that is stored of the session, whatever a model is shown, in the order of storing. */
  storedMessages(session: SessionRef): AgentMessage[] | Promise<AgentMessage[]>;
}

export const isReadable = (engine: ContextEngine): engine is ReadableEngine =>
  "storedMessages" in engine && typeof engine.storedMessages === "function";

/** Of other engines: what they show when they are given no history. */
export async function recordOf(
  engine: ContextEngine,
  session: SessionRef,
): Promise<readonly AgentMessage[]> {
  if (isReadable(engine)) return engine.storedMessages(session);
  return (await call(engine, "assemble", { ...session, messages: [] })).messages;
}
