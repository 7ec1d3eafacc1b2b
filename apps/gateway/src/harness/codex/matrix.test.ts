// What Codex really sends its model, case by case; the same list runs against the real one.
import { describe, expect, it } from "vitest";
import { REAL_CODEX } from "../../testing/codex/programs.ts";
import { type CodexWorld, codexWorld, type WorldOptions } from "../../testing/codex/world.ts";

const SOON = { timeout: 120_000 };

interface Place {
  name: string;
  isCold: boolean;
  projection: "items" | "quoted";
}

const PLACES: Place[] = [true, false].flatMap((isCold) =>
  (["items", "quoted"] as const).map((projection) => ({
    name: `${isCold ? "cold" : "loaded"}, ${projection}`,
    ...{ isCold, projection },
  })),
);

/** Two turns, of which the second began a thread that holds both. */
async function begun(world: CodexWorld): Promise<void> {
  world.model.answers.push({ text: "reply one" }, { text: "reply two" });
  await world.say("first question");
  world.engine({ epoch: "e1" });
  await world.say("second question");
}

interface Case {
  name: string;
  /** Resolves when the request that is looked at was made. */
  play(world: CodexWorld, between: () => Promise<void>): Promise<void>;
  /** What the newest request says of the conversation, in order; nothing else is in it. */
  texts: string[];
  /** What is in no part of it. */
  gone?: string[];
  /** Whether it went to the thread of the request before. */
  sameThread: boolean | { items: boolean; quoted: boolean };
}

const CASES: Case[] = [
  {
    name: "same key",
    async play(world, between) {
      await begun(world);
      await between();
      await world.say("third question");
    },
    texts: ["first question", "reply one", "second question", "reply two", "third question"],
    sameThread: true,
  },
  {
    name: "new epoch",
    async play(world, between) {
      await begun(world);
      await between();
      world.engine({ epoch: "e2", summary: "SUMMARY of the tide", skip: 2 });
      await world.say("third question");
    },
    texts: ["SUMMARY of the tide", "second question", "reply two", "third question"],
    gone: ["first question", "reply one"],
    sameThread: false,
  },
  {
    name: "stale after a compaction of its own",
    async play(world, between) {
      await begun(world);
      world.model.answers.push(
        { text: "reply three", input: 94_000 },
        { text: "NATIVE" },
        { text: "reply four" },
      );
      await world.say("third question");
      const { report } = await world.say("fourth question");
      expect(report.execution?.nativeCompactions).toBe(1);
      await between();
      await world.say("fifth question");
    },
    texts: [
      ...[
        "first question",
        "reply one",
        "second question",
        "reply two",
        "third question",
        "reply three",
      ],
      ...["fourth question", "reply four", "fifth question"],
    ],
    gone: ["NATIVE"],
    sameThread: false,
  },
  {
    name: "failed turn",
    async play(world, between) {
      await begun(world);
      for (let tries = 0; tries < 8; tries++) world.model.answers.push({ status: 404 });
      const { outcome } = await world.say("failing question");
      expect(outcome).toBe("failed");
      world.model.answers.length = 0;
      await between();
      await world.say("third question");
    },
    texts: [
      "first question",
      "reply one",
      "second question",
      "reply two",
      "failing question",
      "third question",
    ],
    sameThread: { items: true, quoted: false },
  },
  {
    name: "killed turn",
    async play(world, between) {
      await begun(world);
      world.model.answers.push("never");
      const asked = world.model.asked.length;
      const said = world.say("killed question");
      await world.model.untilAsked(asked + 1);
      process.kill(world.pid(), "SIGKILL");
      const { outcome, report } = await said;
      expect([outcome, report.code]).toEqual(["failed", "HARNESS_FAILED"]);
      await between();
      await world.say("third question");
    },
    texts: [
      "first question",
      "reply one",
      "second question",
      "reply two",
      "killed question",
      "third question",
    ],
    sameThread: { items: true, quoted: false },
  },
  {
    name: "overflow",
    async play(world, between) {
      await begun(world);
      await between();
      world.model.answers.push({ status: 400, code: "context_length_exceeded" });
      const { report, outcome } = await world.say("third question");
      expect(outcome).toBe("completed");
      expect(report.compactions).toMatchObject([{ trigger: "overflow", compacted: true }]);
      expect(report.execution?.projections.map(({ thread }) => thread)).toEqual([
        "continued",
        "new",
      ]);
    },
    texts: ["SUMMARY of the tide", "third question"],
    gone: ["first question", "reply one", "second question", "reply two"],
    sameThread: false,
  },
];

/** The newest request, as one text, and what it says of the conversation, in order. */
function look(world: CodexWorld, { texts, gone = [] }: Case, { projection }: Place) {
  const said = world.said();
  const [base, addition, ...rest] = said;
  expect([base, addition]).toEqual(["developer: BASE", "developer: ADDITION"]);
  const whole = rest.join("\n");
  for (const text of texts) expect(whole.split(text), text).toHaveLength(2);
  for (const text of gone) expect(whole, text).not.toContain(text);
  const places = texts.map((text) => whole.indexOf(text));
  expect(places).toEqual(places.toSorted((left, right) => left - right));
  expect(whole.endsWith(texts.at(-1)!)).toBe(true);
  if (projection === "items") expect(rest).toEqual(texts.map(withRole));
}

/** Questions and summaries are a person's, all else is the model's. */
const withRole = (text: string) =>
  `${/question|SUMMARY/.test(text) ? "user" : "assistant"}: ${text}`;

async function play(each: Case, place: Place, more: Partial<WorldOptions> = {}) {
  const world = await codexWorld({ projection: place.projection, ...more });
  await each.play(world, async () => {
    if (place.isCold) await world.restart();
  });
  look(world, each, place);
  const { sameThread } = each;
  const expected = typeof sameThread === "boolean" ? sameThread : sameThread[place.projection];
  expect(world.threadOf() === world.threadOf(2)).toBe(expected);
  return world;
}

describe.each(PLACES)("Codex, $name", (place) => {
  it.each(CASES)("$name: nothing twice, nothing old, roles kept", SOON, async (each) => {
    await play(each, place);
  });

  it.skipIf(REAL_CODEX === undefined).each(CASES)(
    "$name: the real Codex asks its model the same",
    SOON,
    async (each) => {
      const real = await play(each, place, { binary: REAL_CODEX });
      const fake = await play(each, place);
      expect(asked(real)).toEqual(asked(fake));
    },
  );
});

/**
 * Every request that is no compaction, without what each program words in its own way; one that is
 * sent again after a failure counts once.
 */
const asked = ({ model }: CodexWorld) =>
  model.asked
    .filter(({ said }) => !said.at(-1)?.includes("CONTEXT CHECKPOINT"))
    .map(({ said }) =>
      said.map((line) => {
        if (line.startsWith("developer: BASE")) return "developer: BASE";
        return /^user: Another language model/.test(line) ? "user: (native summary)" : line;
      }),
    )
    .filter((said, index, all) => String(said) !== String(all[index - 1]));
