// Does what the page is asked to do and follows a gateway that may come and go.
import { shortName } from "../src/sessions/keys.ts";
import { type Api, ApiError } from "./api.ts";
import {
  applyEvent,
  chatItems,
  endTurn,
  isRunning,
  type LiveTurn,
  type Problem,
  startTurn,
} from "./live-turn.ts";
import { freeSessionName, isSameSession, listedSessions, type PageState } from "./page-state.ts";
import { AWAY, settleTurn } from "./settle-turn.ts";
import type { Store } from "./store.ts";

/** Entries of a session read at first, and added each time a person asks for earlier ones. */
const ENTRIES_PER_PAGE = 200;

export interface Controller {
  /** Asks the gateway how it is, and reads again what changed. */
  poll(): Promise<void>;
  open(key: string): Promise<void>;
  openNew(): Promise<void>;
  send(text: string): Promise<void>;
  /** Cancels the reply of the session shown. */
  stop(): Promise<void>;
  showEarlier(): Promise<void>;
  /** The whole text of an item of the context shown. */
  readItem: Api["contextItem"];
}

export function createController({
  api,
  store,
}: {
  api: Api;
  store: Store<PageState>;
}): Controller {
  let limit = ENTRIES_PER_PAGE;
  let loads = 0;

  const setTurn = (key: string, turn: LiveTurn) =>
    store.set({ turns: { ...store.get().turns, [key]: turn } });
  const fail = (error: unknown) => {
    const { code, message } = toProblem(error);
    store.set(code === AWAY ? { connection: "away" } : { notice: message, isLoading: false });
  };

  /**
   * Reads the session shown; what was meant for another one, or is older than what was
   * asked since, is thrown away.
   */
  const load = async () => {
    const { key, context: shown, turns: before } = store.get();
    const wasRunning = isRunning(before[key]);
    const mine = ++loads;
    const session = isKnown(store.get()) ? await api.session(key, limit) : null;
    // While a turn runs its first call may still be to come: what is shown stays until it ends.
    const context = session === null ? null : wasRunning ? shown : await api.context(key);
    if (store.get().key !== key || mine !== loads) return;
    const { turns } = store.get();
    // The server knows the canonical form of a short name; a running turn keeps the
    // name it was started with.
    const canonical = isRunning(turns[key]) ? key : (session?.key ?? key);
    store.set({
      session,
      context,
      isLoading: false,
      key: canonical,
      turns: renamed(turns, key, canonical),
    });
    // What was read while the turn ran does not hold all of it.
    if (!wasRunning) settle(canonical);
  };

  const settle = (key: string) => {
    const { turns, session, problems, draft, notice } = store.get();
    const turn = turns[key];
    if (turn === undefined || isRunning(turn)) return;
    const { problem, giveBack } = settleTurn(
      turn,
      chatItems(session?.entries ?? [], null),
      session?.busy ?? false,
    );
    const { [key]: _ended, ...others } = turns;
    const { [key]: _old, ...otherProblems } = problems;
    store.set({
      turns: others,
      problems: problem === null ? otherProblems : { ...otherProblems, [key]: problem },
      draft: giveBack !== null && draft.trim() === "" ? giveBack : draft,
      notice: turn.answer ?? notice,
    });
  };

  const refresh = async () => {
    try {
      store.set({ sessions: await api.sessions() });
      await load();
    } catch (error) {
      fail(error);
    }
  };

  return {
    async poll() {
      try {
        const health = await api.health();
        const sessions = await api.sessions();
        const before = store.get();
        const isRestarted = before.health !== null && before.health.pid !== health.pid;
        const notice = isRestarted
          ? "The gateway was restarted; nothing stored was lost."
          : before.notice;
        store.set({ connection: "ok", health, sessions, notice });
        if (before.connection !== "ok" || isChangedElsewhere(store.get())) await load();
      } catch (error) {
        fail(error);
      }
    },
    async open(key) {
      const { key: shown } = store.get();
      if (isSameSession(key, shown)) return;
      limit = ENTRIES_PER_PAGE;
      store.set({ key, session: null, context: null, isLoading: true, notice: null });
      await load().catch(fail);
    },
    async openNew() {
      await this.open(
        freeSessionName(listedSessions(store.get()).map(({ key }) => shortName(key))),
      );
    },
    async send(text) {
      const { key, turns, problems } = store.get();
      if (text.trim() === "" || isRunning(turns[key])) return;
      const { [key]: _old, ...otherProblems } = problems;
      let turn = startTurn(text);
      store.set({ draft: "", notice: null, problems: otherProblems });
      setTurn(key, turn);
      try {
        for await (const event of api.send(key, text)) {
          turn = applyEvent(turn, event);
          setTurn(key, turn);
        }
        if (isRunning(turn))
          throw new ApiError(AWAY, "The gateway stopped in the middle of the reply.");
      } catch (error) {
        const problem = toProblem(error);
        if (problem.code === AWAY) store.set({ connection: "away" });
        setTurn(key, endTurn(turn, problem));
      }
      await refresh();
    },
    async stop() {
      await api.abort(store.get().key).catch(fail);
    },
    async showEarlier() {
      limit += ENTRIES_PER_PAGE;
      await load().catch(fail);
    },
    readItem: api.contextItem,
  };
}

/** False: nobody spoke in the session yet, so that there is nothing to ask for. */
function isKnown({ key, sessions, turns }: PageState): boolean {
  const turn = turns[key];
  return (
    sessions.some((row) => isSameSession(row.key, key)) ||
    (turn?.isStored === true && !isRunning(turn))
  );
}

/** Another client wrote to the session shown, or its reply began or ended. */
function isChangedElsewhere({ sessions, key, session, turns }: PageState): boolean {
  const row = sessions.find((each) => isSameSession(each.key, key));
  if (row === undefined || isRunning(turns[key])) return false;
  return session === null || row.updatedAt !== session.updatedAt || row.busy !== session.busy;
}

function renamed(turns: PageState["turns"], from: string, to: string): PageState["turns"] {
  const { [from]: turn, ...others } = turns;
  return turn === undefined || from === to ? turns : { ...others, [to]: turn };
}

function toProblem(error: unknown): Problem {
  if (error instanceof ApiError) return { code: error.code, message: error.message };
  // A stream that breaks off rejects with whatever the browser says.
  return {
    code: AWAY,
    message:
      "The connection to the gateway broke. If your message was not stored, it is back in the box.",
  };
}
