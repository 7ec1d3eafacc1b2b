// Lets many sessions of one gateway chat at a steady pace.
import { setTimeout } from "node:timers/promises";
import { say } from "../gateway/gateway-process.ts";

/** Sessions that send a message every now and then. */
export interface Chatters {
  /** Goes on. */
  resume(): void;
  /** Begins no turn any more; those under way end. */
  pause(): void;
  /** ms of the slowest turn that ended since it was asked last. */
  slowestMs(): number;
  /** Resolves when the last turn has ended. */
  stop(): Promise<void>;
}

/** Time between two messages of one session, ms. */
const PACE_MS = 1000;

/** `sessions` of them, spread over the pace. */
export function startChatters(url: string, sessions: number): Chatters {
  let state: "chat" | "pause" | "stop" = "pause";
  let slowest = 0;
  const chat = async (index: number) => {
    await setTimeout((index * PACE_MS) / sessions);
    for (let turn = 0; state !== "stop"; turn++) {
      if (state === "chat") {
        const start = performance.now();
        await say(url, `Note ${turn}: locker ${index * 1000 + turn} is mine.`, `chat-${index}`);
        slowest = Math.max(slowest, performance.now() - start);
      }
      await setTimeout(PACE_MS);
    }
  };
  const ended = Promise.all(Array.from({ length: sessions }, (_, index) => chat(index)));
  // Awaited by `stop`; a failure before that must not end the process.
  ended.catch(() => {});
  return {
    resume() {
      if (state === "pause") state = "chat";
    },
    pause() {
      if (state === "chat") state = "pause";
    },
    slowestMs() {
      const found = slowest;
      slowest = 0;
      return found;
    },
    async stop() {
      state = "stop";
      await ended;
    },
  };
}
