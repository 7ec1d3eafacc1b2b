import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages, estimateText } from "@clew/plugin-sdk/tokens";
import { splitRecord } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { prose } from "../__fixtures__/histories.ts";
import {
  memorySession,
  now,
  obedientSummary,
  patientSleep,
  promptOf,
  scripted,
} from "../__fixtures__/session.ts";
import { ledgerOf } from "./record.ts";
import { recordRoomFor } from "./record-room.ts";
import { compactTranscript } from "./run.ts";

const forgetful = () =>
  scripted((call) => obedientSummary(promptOf(call)).replace(/^- (?!\(none\)).*$/gm, "- (none)"));

/** Turns that read a file, edit it and run a command, each with names of its own. */
const work = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const number = from + index;
    const edit = toolCall("edit", { path: `src/part${number}/widget${number}.ts` }, `e${number}`);
    const run = toolCall("exec", { command: `pnpm test widget${number}` }, `r${number}`);
    return [
      user(`Mend widget ${number}. ${prose(300, number)}`),
      assistant([edit, run]),
      toolResult(edit, `changed. ${prose(200, number)}`),
      toolResult(run, `Error: widgetBroken${number} ${prose(200, number)}`, { isError: true }),
      assistant(`Mended as TICKET-${1000 + number}. ${prose(200, number)}`),
    ];
  }).flat();

function setup(messages = work(0, 60), contextWindow = 64_000) {
  const session = memorySession(messages);
  const model = forgetful();
  const compact = () =>
    compactTranscript({
      ...{
        transcript: session,
        trigger: "overflow" as const,
        now,
        sleep: patientSleep(),
        random: () => 0.5,
        options: { prune: false },
      },
      model: { ...model, ref: { ...model.ref, contextWindow } },
    });
  const parts = () => {
    const head = session.context()[0];
    return splitRecord(head?.role === "compactionSummary" ? head.summary : "");
  };
  return { session, compact, parts };
}

describe("the ledger beside a summary", () => {
  it("names files, ids, commands and errors that the model's summary forgot, each with its state and source", async () => {
    const { session, compact, parts } = setup();
    expect((await compact()).compacted).toBe(true);
    const { summary, ledger } = parts();
    expect(summary).not.toContain("TICKET-1003");
    expect(ledger).toContain("TICKET-1003");
    expect(ledger).toMatch(/^src\/part3\/: widget3\.ts/m);
    const entry = (text: string) =>
      session
        .branch()
        .find((one) => one.type === "message" && JSON.stringify(one.message).includes(text))!;
    expect(ledger).toContain("widget20.ts (edited)");
    expect(ledger).toContain(`widget52.ts (edited @${entry('"toolCallId":"e52"').id})`);
    expect(ledger).toMatch(/- pnpm test widget\d+ → failed: Error: widgetBroken\d+/);
  });

  it("is counted, within its 4,500 tokens, and what it stands beside is smaller than before", async () => {
    const { session, compact, parts } = setup(work(0, 400), 200_000);
    const { result } = await compact();
    const tokens = estimateText(parts().ledger).estimate;
    expect(tokens).toBeGreaterThan(3_500);
    expect(tokens).toBeLessThanOrEqual(4_500);
    expect(result!.tokensAfter).toBe(estimateMessages(session.context()).estimate);
    expect(result!.tokensAfter!).toBeLessThan(result!.tokensBefore);
  });

  it("stays as it is while the session goes on, and is made anew of the whole past at the next compaction", async () => {
    const { session, compact, parts } = setup();
    await compact();
    const frozen = JSON.stringify(session.context()[0]);
    session.say(...work(60, 3));
    expect(JSON.stringify(session.context()[0])).toBe(frozen);
    session.say(...work(63, 60));
    expect((await compact()).compacted).toBe(true);
    expect(parts().ledger).toContain("widget3.ts");
    expect(parts().ledger).toContain("widget90.ts");
    // One ledger: the earlier one is not carried along in the summary's own words.
    expect(parts().summary).not.toContain("<ledger>");
  });

  it("reads the same after a restart, which has to fold everything again", async () => {
    const going = setup();
    await going.compact();
    going.session.say(...work(60, 60));
    const { session } = going;
    const restarted = setup([user("empty")]);
    await restarted.session.graft({
      keep: 0,
      leafId: restarted.session.branch()[0]!.id,
      entries: session.branch(),
    });
    await Promise.all([going.compact(), restarted.compact()]);
    expect(restarted.parts()).toEqual(going.parts());
  });

  it("goes on from a checkpoint, without a look at what it covers", async () => {
    let kept = "";
    const ledger = {
      read: () => (kept === "" ? undefined : JSON.parse(kept)),
      write: (checkpoint: unknown) => {
        kept = JSON.stringify(checkpoint);
      },
    };
    const messages = work(0, 60);
    const first = setup(messages);
    first.session.ledger = ledger;
    await first.compact();
    const said = splitRecord(
      first.session.branch().findLast((one) => one.type === "compaction")!.summary,
    );
    const emptied = setup(messages.map((message, index) => (index < 20 ? user("?") : message)));
    emptied.session.ledger = ledger;
    await emptied.compact();
    expect(emptied.parts().ledger).toBe(said.ledger);
    expect(emptied.parts().ledger).toContain("widget3.ts");
  });

  it("goes on after a restart from what was saved, and believes nothing that does not fit", async () => {
    const saved: unknown[] = [];
    const going = setup();
    const lasting = (stored: () => unknown) => {
      const { branch, append } = going.session;
      const write = async (checkpoint: unknown) => void saved.push(checkpoint);
      return { branch, append, ledger: { read: async () => stored(), write } };
    };
    const covered = () => going.session.branch().slice(0, 200);
    const first = await ledgerOf(
      covered(),
      lasting(() => undefined),
    );
    going.session.say(...work(60, 60));
    const all = await ledgerOf(
      going.session.branch(),
      lasting(() => undefined),
    );
    const asJson = JSON.parse(JSON.stringify(saved[0])) as Record<string, unknown>;
    expect(first.entries).toBe(200);
    // Folded from the 200th entry on: the beginning is not read again.
    const unread = going.session.branch().map((entry, index) =>
      index < 199
        ? Object.defineProperty({ ...entry }, "message", {
            get: () => {
              throw new Error(`entry ${index} was read`);
            },
          })
        : entry,
    );
    expect(
      await ledgerOf(
        unread,
        lasting(() => asJson),
      ),
    ).toEqual(all);
    const misfits = [
      null,
      "text",
      { v: 0 },
      { ...asJson, lastEntryId: "other" },
      { ...asJson, entries: 7 },
    ];
    for (const misfit of misfits)
      expect(
        await ledgerOf(
          going.session.branch(),
          lasting(() => misfit),
        ),
      ).toEqual(all);
  });

  it("is folded in slices, and stops when the compaction is cancelled", async () => {
    const { session } = setup();
    const cancelled = AbortSignal.abort(new Error("enough"));
    const slow = Array.from({ length: 400 }, () => session.branch()).flat();
    await expect(ledgerOf(slow, {}, cancelled)).rejects.toThrow("enough");
  });

  it("forgets what another branch said", async () => {
    const { session, compact, parts } = setup();
    await compact();
    const elsewhere = setup(work(500, 60))
      .session.branch()
      .map((entry) => ({ ...entry, id: `x${entry.id}` }));
    await session.graft({ keep: 0, leafId: session.branch().at(-1)!.id, entries: elsewhere });
    await compact();
    expect(parts().ledger).toContain("widget510.ts");
    expect(parts().ledger).not.toContain("widget10.ts");
  });

  it("takes a share of what little is summarised, and an earlier record's room besides", () => {
    const limit = { ledger: 3_000, anchors: 600, pins: 400 };
    const room = (summarisedTokens: number, previousTokens: number) =>
      recordRoomFor({ limit, summarisedTokens, previousTokens });
    expect(room(400, 0)).toEqual({ ledger: 150, anchors: 30, pins: 20 });
    expect(room(400, 1_800)).toEqual({ ledger: 1_500, anchors: 300, pins: 200 });
    expect(room(90_000, 1_500)).toEqual(limit);
  });
});
