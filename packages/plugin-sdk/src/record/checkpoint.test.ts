import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assistant, conversation, toolCall, toolResult, user } from "../testing/messages.ts";
import { entriesOf } from "./__fixtures__/entries.ts";
import { restoreLedger, saveLedger } from "./checkpoint.ts";
import { foldLedger } from "./ledger.ts";
import { renderRecord } from "./render.ts";
import { recordRoomOf } from "./room.ts";
import { EMPTY_LEDGER } from "./state.ts";

const word = fc.oneof(
  fc.constantFrom(
    "src/a.ts",
    "fooBar",
    "PROJ-17",
    "Never",
    "delete",
    "用中文",
    "10.0.0.7",
    "v1.2.3",
    "command x",
    "error bash: no",
    "claude-opus-4-6",
  ),
  fc.integer({ min: 0, max: 40 }).map((n) => `lib/part${n}/unit_${n}.ts`),
  fc.string({ maxLength: 6 }),
);
const text = fc.array(word, { maxLength: 60 }).map((words) => words.join(" "));
const step = fc.oneof(
  text.map((said) => [user(said)]),
  text.map((said) => [assistant(said)]),
  fc
    .record({
      name: fc.constantFrom("read", "edit", "bash"),
      said: text,
      failed: fc.boolean(),
      id: fc.nat(9),
    })
    .map(({ name, said, failed, id }) => {
      const path = [`src/f${id}.ts`, `command ${said.slice(0, 30)}`, "error bash: no"][id % 3];
      const call = toolCall(name, { path, command: said.slice(0, 30) }, `c${id}`);
      return [assistant([call]), toolResult(call, said, { isError: failed })];
    }),
);
const anyBranch = fc
  .array(step, { minLength: 1, maxLength: 40 })
  .map((steps) => entriesOf(steps.flat()));

describe("a checkpoint of a ledger", () => {
  it("goes on, through JSON and wherever it was made, to the record of a fold from the start", () => {
    fc.assert(
      fc.property(anyBranch, fc.nat(100), (entries, at) => {
        const cut = at % (entries.length + 1);
        const room = recordRoomOf(32_000);
        const saved = JSON.stringify(saveLedger(foldLedger(EMPTY_LEDGER, entries.slice(0, cut))));
        const resumed = foldLedger(restoreLedger(JSON.parse(saved))!, entries.slice(cut));
        const whole = foldLedger(EMPTY_LEDGER, entries);
        expect(renderRecord(resumed, { room })).toEqual(renderRecord(whole, { room }));
        expect(saveLedger(resumed)).toEqual(saveLedger(whole));
        expect(restoreLedger(saveLedger(whole))).toEqual(whole);
      }),
    );
  });

  it("of another version, or damaged, is none", () => {
    const saved = saveLedger(foldLedger(EMPTY_LEDGER, entriesOf(conversation({ turns: 2 }))));
    expect(restoreLedger(saved)).toBeDefined();
    expect(restoreLedger({ ...saved, v: 0 })).toBeUndefined();
    expect(restoreLedger({ ...saved, items: [{}] })).toBeUndefined();
    expect(restoreLedger("{")).toBeUndefined();
    expect(restoreLedger(undefined)).toBeUndefined();
  });
});
