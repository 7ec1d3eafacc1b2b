// Whatever happened before, what is forgotten stands in no byte and comes back with no backup.
import { copyFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { retain } from "../forget/retain.ts";
import { openMessageStore } from "../library/message-store.ts";
import { backUpStore } from "../library/operate.ts";
import { named } from "../messages/name.ts";
import { catchUp } from "../search/catch-up.ts";
import { storeCut } from "../store/cuts.ts";
import { storeMessages } from "../store/messages.ts";
import { type Store, useStore } from "../store/store.ts";
import { coverageOf, storeWords } from "../store/summaries.ts";
import { growGraph } from "../summaries/grow.ts";
import { type Dice, diceOf } from "../testing/damage.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { backupsBeside, namesIn } from "./backups.ts";
import { copiesHolding } from "./held.ts";
import { restoreStore } from "./restore.ts";

const NOW = Date.UTC(2026, 5, 1);
const DAY = 86_400_000;
const SESSIONS = [1, 2].map((n) => ({ sessionId: `s${n}`, sessionKey: `k${n}`, owner: "" }));
/** Words that nothing else says, in letters of one case, as indexes have them. */
const SECRETS = ["zanzibarquux", "yucatanquorn", "xanaduquill"];

/** A database, what hosts told it, and what somebody had forgotten. */
interface Life {
  readonly home: string;
  readonly file: string;
  /** Where backups go that no forgetting reaches. */
  readonly outside: string;
  readonly told: { readonly session: number; readonly message: AgentMessage }[];
  readonly forgotten: Set<string>;
  readonly done: string[];
  clock: number;
}

/** Of no two things the same. */
function tick(life: Life): number {
  life.clock++;
  return life.clock;
}

async function on(file: string, work: (store: Store) => unknown): Promise<void> {
  const { store, release } = useStore(file);
  try {
    await work(store);
  } finally {
    release();
  }
}

/** A few messages of a turn; some say a secret that was not forgotten yet, in one of many ways. */
function turnOf(life: Life, dice: Dice): AgentMessage[] {
  const open = SECRETS.filter((each) => !life.forgotten.has(each));
  const secret = dice(3) === 0 ? open[dice(Math.max(1, open.length))] : undefined;
  const said = secret ?? "nothing much";
  const id = `call${life.told.length}`;
  const turns = [
    () => [user(`It is ${said}, he said.`), assistant("noted")],
    () => [user("keep it"), assistant([toolCall("save", { [said]: { code: said } }, id)])],
    () => [
      user("read it"),
      assistant([toolCall("read", { path: "notes.txt" }, id)]),
      toolResult({ id, name: "read" }, `${`a line of ${said}\n`.repeat(1 + dice(2) * 400)}`),
      assistant(`They say "${said}".`),
    ],
    () => [user(JSON.stringify({ said: `in "${said}"` })), assistant(`so: ${said}`)],
  ];
  return turns[dice(turns.length)]!().map((message, at): AgentMessage => {
    const timed = { ...message, timestamp: NOW - (100 - tick(life)) * DAY } as AgentMessage;
    return dice(9) === 0 ? timed : withMessageId(timed, `e${life.told.length}-${at}`);
  });
}

type Step = (life: Life, dice: Dice) => Promise<void>;

const ingest: Step = async (life, dice) => {
  const session = dice(SESSIONS.length);
  for (let turn = 0; turn <= dice(4); turn++) {
    const messages = turnOf(life, dice);
    const seen = messages.map((message) =>
      "content" in message && typeof message.content === "string"
        ? ({ ...message, content: `${message.content.slice(0, 24)}…` } as AgentMessage)
        : message,
    );
    await on(life.file, (store) => {
      const of = { session: SESSIONS[session]! };
      if (dice(4) === 0)
        storeMessages(store, { ...of, messages: seen.slice(0, 1).map(named), from: "seen" });
      storeMessages(store, { ...of, messages: messages.map(named), from: "told" });
    });
    life.told.push(...messages.map((message) => ({ session, message })));
  }
};

/** As a host does that reads its session file again, or somebody who imports a copy of it. */
const tellAgain: Step = async (life, dice) => {
  const isImport = dice(2) === 0;
  await on(life.file, (store) => {
    for (const [session, of] of SESSIONS.entries()) {
      const messages = life.told.filter((each) => each.session === session);
      const into = isImport ? { ...of, sessionId: "import", sessionKey: "import" } : of;
      const named_ = messages.map(({ message }) => named(message));
      storeMessages(store, { session: into, messages: named_, from: "told" });
    }
  });
};

/** Records and summaries quote what was said; of some a model says something. */
const compact: Step = async (life, dice) => {
  const session = dice(SESSIONS.length);
  const of = SESSIONS[session]!;
  await on(life.file, async (store) => {
    if (dice(2) === 0) await catchUp(store);
    const coverage = coverageOf(store, of);
    if (coverage === undefined) return;
    await growGraph(store, coverage.conversation, {
      sizes: { leafTokens: 40 + dice(60), fanIn: 2, kept: dice(3) },
    });
    const sayable = SECRETS.filter(
      (each) => !life.forgotten.has(each) && saidIn(life, session).includes(each),
    );
    const said = sayable[dice(Math.max(1, sayable.length))] ?? "nothing";
    const [oldest] = coverageOf(store, of)!.frontier;
    if (oldest !== undefined && dice(2) === 0)
      storeWords(store, oldest, { words: `It was about ${said}.`, model: "m" });
    storeCut(store, {
      ...{ session: of, messages: [] },
      cut: {
        ...{ name: `c${dice(3)}`, first: "e0-0", request: null, ceiling: 8_000, covered: 2 },
        ...{ tokens: { estimate: 10, high: 12 }, parts: new Map(), time: null },
        record: `They said ${said}.`,
        ledger: JSON.stringify({ pins: [`hold on to ${said}`] }),
      },
    });
  });
};

const saidIn = ({ told }: Life, session: number): string =>
  JSON.stringify(told.filter((each) => each.session === session));

const letGo: Step = (life, dice) =>
  on(life.file, (store) =>
    retain(store, { keepDays: 95 - dice(60) }, { now: NOW, boundMs: 60_000 }),
  );

const backUp: Step = async (life, dice) => {
  const { file } = await backUpStore(life.file, { now: NOW + tick(life) });
  if (dice(2) === 0) return;
  copyFileSync(file, join(life.outside, `backup${life.clock}`));
  rmSync(file);
};

/** As `clew lossless forget` does. */
const forget: Step = async (life, dice) => {
  const open = SECRETS.filter((each) => !life.forgotten.has(each));
  const secret = open[dice(Math.max(1, open.length))];
  if (secret === undefined) return;
  life.forgotten.add(secret);
  life.done.push(secret);
  const holds = ({ message }: Life["told"][number]) => JSON.stringify(message).includes(secret);
  const store = openMessageStore(life.file);
  try {
    const plan = await store.planForget({ text: secret });
    const graves = [await store.gravesOf(plan.messages.map(({ number }) => number))];
    const copies = backupsBeside(life.file).map(({ file }) => file);
    const holding = await copiesHolding(copies, { graves, text: secret });
    const whole = await store.planElsewhere(plan, {
      messages: life.told.filter(holds).map(({ message }) => message),
      graves: holding.flatMap((copy) => copy.graves),
    });
    for (const { file } of holding) rmSync(file);
    const numbers = whole.messages.map(({ number }) => number);
    await store.forget({ ...whole, numbers });
  } finally {
    store.close();
  }
};

const restore: Step = async (life, dice) => {
  const outside = namesIn(life.outside).map((name) => join(life.outside, name));
  const all = [...outside, ...backupsBeside(life.file).map(({ file }) => file)];
  const from = all[dice(Math.max(1, all.length))];
  if (from === undefined) return;
  const now = NOW + tick(life);
  const { forgotten } = await restoreStore({ from, file: life.file, agentDirs: [], now });
  expect(forgotten.unknown).toBeNull();
  // Nothing was made beside it.
  expect(namesIn(life.outside)).toHaveLength(outside.length);
};

const STEPS = { ingest, tellAgain, compact, letGo, backUp, forget, restore };
const NAMES = Object.keys(STEPS) as (keyof typeof STEPS)[];

/** Files of the home that hold a secret in plain letters, or in whatever a reader of it finds. */
async function holding({ home, file, forgotten }: Life): Promise<string[]> {
  const files = readdirSync(home).map((name) => join(home, name));
  const found: string[] = [];
  for (const secret of forgotten) {
    for (const each of files)
      if (readFileSync(each, "latin1").toLowerCase().includes(secret))
        found.push(`${each}: ${secret}`);
    const copies = [file, ...backupsBeside(file).map((each) => each.file)];
    // What is let go is looked for in pages later.
    for (const each of await copiesHolding(copies, { graves: [], text: secret }))
      if (each.what !== "pages") found.push(`${each.file} (${each.what}): ${secret}`);
  }
  return found;
}

describe("what is forgotten", () => {
  it("stands nowhere and comes back by nothing, whatever was done before and is done next", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), fc.boolean(), async (start, packs) => {
        const dice = diceOf(start);
        const [home, outside] = [temporaryFolder(), temporaryFolder()];
        const file = join(home, "lossless.db");
        const life: Life = {
          ...{ home, outside, file, told: [], done: [], clock: 0 },
          forgotten: new Set<string>(),
        };
        // As long as it is open, new texts are kept compressed.
        const { release } = useStore(file, { compresses: packs });
        release();
        for (const step of [ingest, compact, ingest]) await step(life, dice);
        const steps = 8 + dice(16);
        for (let step = 0; step < steps; step++) {
          const name = NAMES[dice(NAMES.length)]!;
          life.done.push(name);
          const use = useStore(file, { compresses: packs });
          if (name === "restore") use.release();
          await STEPS[name](life, dice);
          if (name === "ingest" && dice(2) === 0) await STEPS.compact(life, dice);
          use.release();
          expect([life.done, await holding(life)]).toEqual([life.done, []]);
          await on(file, async (store) => {
            const { faults } = await verifyStore(store);
            expect([life.done, faults]).toEqual([life.done, []]);
          });
        }
      }),
      {
        numRuns: fc.readConfigureGlobal().numRuns! / 5,
        // There a record quotes what, after a restore, only another conversation says.
        examples: [[1111996580, false]],
      },
    );
  }, 280_000);
});
