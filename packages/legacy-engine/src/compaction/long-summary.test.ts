import { assistant, user } from "@clew/plugin-sdk/testing";
import { estimateText } from "@clew/plugin-sdk/tokens";
import { joinRecord, type TranscriptEntry, textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { hastySleep, memorySession, now, scripted } from "../__fixtures__/session.ts";
import { compactTranscript } from "./run.ts";

const WINDOW = 16_000;

const decisions = (chars: number) =>
  Array.from(
    { length: chars / 60 },
    (_, index) =>
      `- decision ${index}: module m${index} keeps table t${index} in src/d${index}/x.ts`,
  ).join("\n");

/** A session that another program, or a larger window, summarised in `summary`. */
async function summarised(summary: string) {
  const session = memorySession([
    user("Never delete anything under /srv/data."),
    assistant("Noted"),
  ]);
  const last = session.branch().at(-1)!;
  const entry = { type: "compaction", summary, firstKeptEntryId: last.id, tokensBefore: 90_000 };
  await session.append([entry as never]);
  session.say(user("go on"), assistant("on it"), user("and then?"));
  return session;
}

const sizeOf = (session: ReturnType<typeof memorySession>) =>
  session.context().reduce((sum, message) => sum + estimateText(textOf(message)).estimate, 0);

const compact = (transcript: ReturnType<typeof memorySession>, trigger: "overflow" | "threshold") =>
  compactTranscript({
    ...{ transcript, trigger, now, sleep: hastySleep },
    model: scripted([{ kind: "unavailable", message: "503" }], { contextWindow: WINDOW }),
  });

describe("a summary that is longer than the window", () => {
  it.each([
    ["another program's", (text: string) => `## Goal\n- build it\n\n${text}`],
    ["a larger window's", (text: string) => joinRecord({ summary: text, pins: "- Use tabs." })],
  ])(
    "%s is shortened to its ends, says where the whole is, and stays in the transcript",
    async (_, summaryOf) => {
      for (const chars of [45_000, 400_000])
        for (const trigger of ["overflow", "threshold"] as const) {
          const summary = summaryOf(decisions(chars));
          const session = await summarised(summary);
          const stored = session
            .branch()
            .find(({ type }) => type === "compaction") as TranscriptEntry;
          const result = await compact(session, trigger);
          expect(result).toMatchObject({ compacted: true, code: "weaker-summary" });
          expect(result.reason).toContain(stored.id);
          expect(sizeOf(session)).toBeLessThan(WINDOW / 4);
          const shown = session.context().map(textOf).join("\n");
          expect(shown).toContain(`@${stored.id} is the whole`);
          expect(shown).toContain("decision 0:");
          expect(shown).toContain("and then?");
          expect(session.branch()).toContainEqual(stored);
          expect(await compact(session, trigger)).toMatchObject({ compacted: false });
        }
    },
  );

  it("is left as it is where it is no longer than two of its window's", async () => {
    const session = await summarised(`## Goal\n- build it\n\n${decisions(3000)}`);
    expect(await compact(session, "overflow")).toMatchObject({ compacted: false });
  });
});
