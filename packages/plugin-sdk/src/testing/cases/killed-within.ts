// Kills an engine while it is told of a turn or compacts, and goes on with what is left.
import type { ContextEngine } from "../../contract/engine.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { textOf } from "../../transcript/text.ts";
import type { CaseContext } from "../case-context.ts";
import type { CaseSession } from "../case-session.ts";
import type { CaseStorage } from "../case-storage.ts";
import { call, check } from "../engine-call.ts";
import { recordOf } from "../sessions/record.ts";
import { positionsIn, repeated } from "./observe.ts";

/** Moments of one call at which the process is killed, at most. */
const MOST_KILLS = 8;
/** And those of them in the middle of writing. */
const MOST_TORN = 16;

/**
 * Each kill is a copy of the engine's folder while `tell` runs; an engine that is made there is
 * told of the same turn by it. It has what one has that is made after a turn without a kill.
 */
export async function expectNothingLostWithin(
  context: CaseContext,
  what: string,
  tell: (engine: ContextEngine) => Promise<unknown>,
): Promise<void> {
  const copies = await copiesWhile(context.storage, () => tell(context.engine));
  const session = context.session();
  const history = session.history();
  const { sessionId, sessionKey } = session.ref;
  const recordIn = (engine: ContextEngine) => recordOf(engine, { sessionId, sessionKey });
  const whole = context.storage.copy?.();
  if (whole === undefined) return;
  let had: number[] = [];
  await context.beside(
    async ({ engine }) => {
      had = positionsIn(history, await recordIn(engine));
    },
    { storage: whole },
  );
  for (const storage of copies)
    await context.beside(
      async ({ engine }) => {
        await tell(engine);
        const record = await recordIn(engine);
        const left = positionsIn(history, record);
        const lost = had.find((place) => !left.includes(place));
        check(
          lost === undefined,
          `Killed within ${what} and told of the turn again, it lacks "${textOf(history[lost ?? 0]!)}".`,
        );
        const twice = repeated(record);
        check(
          twice === undefined,
          `Killed within ${what} and told of the turn again, it holds ${twice} twice.`,
        );
      },
      { storage },
    );
}

/**
 * Each kill is a copy of the engine's folder while it compacts once more, or does in maintenance
 * what it put off. One made there shows the session, and what was compacted before stays so.
 */
export async function expectNothingUndone(
  context: CaseContext,
  session: CaseSession,
): Promise<void> {
  const { engine, storage } = context;
  const sizeIn = async (one: ContextEngine) =>
    estimateMessages((await session.assemble(one)).messages).estimate;
  const before = await sizeIn(engine);
  const whole = estimateMessages(session.history()).estimate;
  // Whoever showed all before has nothing to lose.
  if (before * UNDONE >= whole) return;
  const sizeAfter = async (copied: CaseStorage) => {
    let size = 0;
    await context.beside(
      async ({ engine: made }) => {
        if (typeof made.bootstrap === "function") await session.bootstrap(made);
        size = await sizeIn(made);
      },
      { storage: copied },
    );
    return size;
  };
  const first = storage.copy?.();
  // Perhaps it stores elsewhere, and what is copied of it tells nothing.
  if (first === undefined || (await sizeAfter(first)) > before * UNDONE) return;
  const copies = await copiesWhile(storage, async () => {
    await call(engine, "compact", session.compactParams());
    await session.maintain(engine);
  });
  for (const copied of copies) {
    const after = await sizeAfter(copied);
    check(
      after <= before * UNDONE,
      `Killed while it compacted again, it shows ${after} tokens of a session of which it showed ${before} before: what was compacted is undone.`,
    );
  }
}

/** A view so many times as large has again what was compacted. */
const UNDONE = 1.25;

async function copiesWhile(
  { copy, atEachWrite }: CaseStorage,
  work: () => Promise<unknown>,
): Promise<readonly CaseStorage[]> {
  let isOver = false;
  const copies: CaseStorage[] = [];
  const take = () => {
    const copied = copy?.();
    if (copied !== undefined) copies.push(copied);
  };
  const see = () => {
    if (copies.length < MOST_TORN) take();
  };
  const done = (atEachWrite === undefined ? work() : atEachWrite(see, work)).finally(() => {
    isOver = true;
  });
  // Its error is thrown below.
  done.catch(() => {});
  for (let kill = 0; !isOver && kill < MOST_KILLS; kill++) {
    take();
    await new Promise<void>((go) => (kill < 4 ? setImmediate(go) : setTimeout(go, kill)));
  }
  await done;
  return copies;
}
