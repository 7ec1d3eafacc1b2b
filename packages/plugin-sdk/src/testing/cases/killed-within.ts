// Kills an engine while it is being told of a turn, and tells it again.
import type { ContextEngine } from "../../contract/engine.ts";
import { textOf } from "../../transcript/text.ts";
import type { CaseContext } from "../case-context.ts";
import type { CaseStorage } from "../case-storage.ts";
import { check } from "../engine-call.ts";
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
