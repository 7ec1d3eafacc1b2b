import { describe, expect, it } from "vitest";
import { createSessionStore } from "../sessions/store.ts";
import { temporaryHome } from "../testing/home.ts";
import { startPluginGateway } from "../testing/plugins.ts";

/** What old files and other programs have as the content of a reply. */
const CONTENTS = {
  text: "I said so.",
  blank: " ",
  none: null,
  block: { type: "text", text: "single" },
  broken: { type: "toolCall" },
  nothing: "NO_REPLY",
};

const CALL = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } };

describe("a session whose replies hold no list of blocks, and a call without a result", () => {
  for (const contextEngine of ["legacy", "lossless"])
    it(`goes on with the engine ${contextEngine}`, { timeout: 60_000 }, async () => {
      const home = await temporaryHome();
      const { say } = await startPluginGateway({ plugins: { slots: { contextEngine } } }, home);
      const outcomes: Record<string, unknown> = {};
      for (const [key, content] of Object.entries(CONTENTS)) {
        const session = await createSessionStore({ home }).open({ key, cwd: home });
        const messages = [
          { role: "user", content: "Hello." },
          { role: "assistant", content, stopReason: "stop" },
          { role: "user", content: "Read a." },
          { role: "assistant", content: [CALL], stopReason: "toolUse" },
        ];
        await session.append(
          messages.map((message) => ({ type: "message" as const, message: message as never })),
        );
        await session.close();
        for (const text of ["one", "two"]) {
          const turn = await say(text, { session: key });
          outcomes[`${key} ${text}`] = turn.outcome === "completed" ? "completed" : turn;
        }
      }
      expect(outcomes).toEqual(
        Object.fromEntries(Object.keys(outcomes).map((key) => [key, "completed"])),
      );
    });
});
