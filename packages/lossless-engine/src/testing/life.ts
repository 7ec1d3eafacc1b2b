// An engine in a folder of its own, told and asked as hosts do.
import { join } from "node:path";
import type { AgentMessage, SessionRef } from "@clew/plugin-sdk/core";
import { onTestFinished } from "vitest";
import { createLosslessEngine, type LosslessEngine } from "../engine.ts";
import type { EngineSettings } from "../settings.ts";
import { messagesBetween } from "../store/recall.ts";
import { useStore } from "../store/store.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export const SESSION = { sessionId: "s1", sessionKey: "agent:main:main" };

/** An engine, and what the next process would find of what it was told. */
export interface Life {
  readonly agentDir: string;
  readonly file: string;
  readonly engine: LosslessEngine;
  /** Tells it of messages, of `SESSION` unless another is named; how many were new. */
  tell(messages: AgentMessage[], session?: SessionRef): Promise<number>;
  /** Everything in the database, in the order in which it came. */
  stored(): StoredRow[];
  /** The texts of it, short ones. */
  texts(): unknown[];
  /** Another engine on the same file, as after a restart. */
  again(): Promise<Life>;
}

/** A row of the table of messages. */
export interface StoredRow {
  readonly conversation: number;
  readonly message: AgentMessage;
}

export function startLife(settings: EngineSettings = {}, agentDir = temporaryFolder()): Life {
  const engine = createLosslessEngine({ agentDir }, settings);
  onTestFinished(() => engine.dispose?.());
  const file = join(agentDir, "clew-lossless", "lossless.db");
  const stored = () => {
    const { store, release } = useStore(file);
    try {
      return messagesBetween(store, {
        ...{ scope: null, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1_000_000 },
      });
    } finally {
      release();
    }
  };
  return {
    ...{ agentDir, file, engine, stored },
    async tell(messages, session = SESSION) {
      return (await engine.ingestBatch!({ ...session, messages })).ingestedCount;
    },
    texts: () => stored().map(({ message }) => ("content" in message ? message.content : "")),
    async again() {
      await engine.dispose?.();
      return startLife(settings, agentDir);
    },
  };
}
