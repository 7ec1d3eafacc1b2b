// Reads the session shown, and settles its turn when all of it was read.
import type { Api } from "./api.ts";
import { chatItems, isRunning } from "./live-turn.ts";
import { isListWhole, isSameSession, type PageState } from "./page-state.ts";
import { withAnswer } from "./placed-answers.ts";
import { settleTurn, withTold } from "./settle-turn.ts";
import type { Store } from "./store.ts";

/** Entries of a session read at first, and added each time a person asks for earlier ones. */
const ENTRIES_PER_PAGE = 200;

export interface ShownSession {
  load(): Promise<void>;
  /** The next load reads another session: its newest entries only. */
  startAnew(): void;
  /** The next load reads more entries. */
  askForEarlier(): void;
}

export interface PageParts {
  api: Api;
  store: Store<PageState>;
}

export function createShownSession({ api, store }: PageParts): ShownSession {
  let limit = ENTRIES_PER_PAGE;
  let loads = 0;
  return {
    startAnew: () => {
      limit = ENTRIES_PER_PAGE;
    },
    askForEarlier: () => {
      limit += ENTRIES_PER_PAGE;
    },
    /**
     * What was meant for another session, or is older than what was asked since, is thrown away.
     */
    async load() {
      const { key, context: shown, turns: before, isInspecting } = store.get();
      const wasRunning = isRunning(before[key]);
      const mine = ++loads;
      const session = isKnown(store.get()) ? await api.session(key, limit) : null;
      // While a turn runs its first call may still be to come: what is shown stays until it ends.
      // In a long session it takes a while, and beside its calls nobody sees it.
      const isKept = wasRunning || isInspecting;
      const context = session === null ? null : isKept ? shown : await api.context(key);
      if (store.get().key !== key || mine !== loads) return;
      const { turns, answers } = store.get();
      // The server knows the canonical form of a short name; a running turn keeps the
      // name it was started with.
      const canonical = isRunning(turns[key]) ? key : (session?.key ?? key);
      store.set({
        ...{ session, context, isLoading: false, key: canonical },
        turns: renamed(turns, key, canonical),
        answers: renamed(answers, key, canonical),
      });
      // What was read while the turn ran does not hold all of it.
      if (!wasRunning) settle(store, canonical);
    },
  };
}

function settle(store: Store<PageState>, key: string): void {
  const { turns, session, problems, told, draft, answers } = store.get();
  const turn = turns[key];
  if (turn === undefined || isRunning(turn)) return;
  const items = chatItems(session?.entries ?? [], null);
  const { problem, giveBack } = settleTurn(turn, items, session?.busy ?? false);
  const { [key]: _ended, ...others } = turns;
  const { [key]: _old, ...otherProblems } = problems;
  store.set({
    turns: others,
    problems: problem === null ? otherProblems : { ...otherProblems, [key]: problem },
    told: withTold(told, key, turn),
    draft: giveBack !== null && draft.trim() === "" ? giveBack : draft,
    answers: turn.answer === null ? answers : withAnswer(answers, key, session, turn),
  });
}

/** False: as far as the list tells nobody spoke in it yet, and there is nothing to ask for. */
function isKnown(state: PageState): boolean {
  const { key, sessions, turns } = state;
  const turn = turns[key];
  return (
    !isListWhole(state) ||
    sessions.some((row) => isSameSession(row.key, key)) ||
    (turn?.isStored === true && !isRunning(turn))
  );
}

type BySession<Value> = Readonly<Record<string, Value>>;

function renamed<Value>(values: BySession<Value>, from: string, to: string): BySession<Value> {
  const { [from]: value, ...others } = values;
  return value === undefined || from === to ? values : { ...others, [to]: value };
}
