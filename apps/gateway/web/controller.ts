// Does what the page is asked to do and follows a gateway that may come and go.
import type { ApprovalAnswer } from "../src/approvals/approval.ts";
import type { WhenBusy } from "../src/config/when-busy.ts";
import { shortName } from "../src/sessions/keys.ts";
import type { Api, SessionsAsked } from "./api.ts";
import { ApiError } from "./http.ts";
import {
  applyEvent,
  endTurn,
  isRunning,
  type LiveTurn,
  type Problem,
  startTurn,
} from "./live-turn.ts";
import {
  freeSessionName,
  isSameSession,
  listedSessions,
  type PageState,
  turnShown,
} from "./page-state.ts";
import { AWAY } from "./settle-turn.ts";
import { createShownSession, type PageParts } from "./shown-session.ts";

export interface Controller {
  /** Asks the gateway how it is, and reads again what changed. */
  poll(): Promise<void>;
  open(key: string): Promise<void>;
  /** Reads again what the chat shows. */
  readShown(): Promise<void>;
  openNew(): Promise<void>;
  /** Lists more sessions, or those only that have `find` in their names. */
  list(asked: Partial<SessionsAsked>): Promise<void>;
  /** `steers`: while a reply is being written, the model is to see it as soon as it can. */
  send(text: string, steers?: boolean): Promise<void>;
  /** Takes back what waits in the session shown: one message, or all of them. */
  takeBack(id?: string): Promise<void>;
  /** Reads again what waits, where that is of the session shown. */
  readWaiting(key: string): Promise<void>;
  /** Answers for the person, and shows what became of it. */
  answer(id: string, answer: ApprovalAnswer): Promise<void>;
  /** Cancels the reply of the session shown. */
  stop(): Promise<void>;
  showEarlier(): Promise<void>;
  /** The whole text of an item of the context shown. */
  readItem: Api["contextItem"];
}

export function createController({ api, store }: PageParts): Controller {
  const shown = createShownSession({ api, store });
  const fail = (error: unknown) => {
    const { code, message } = toProblem(error);
    store.set(code === AWAY ? { connection: "away" } : { notice: message, isLoading: false });
  };
  const refresh = async () => {
    try {
      // Before the turn's own record: whether its engine is still set aside.
      await readHealth({ api, store });
      await shown.load();
    } catch (error) {
      fail(error);
    }
  };
  const open = async (key: string) => {
    if (isSameSession(key, store.get().key)) return;
    shown.startAnew();
    const nothing = { session: null, context: null, waiting: [] };
    store.set({ key, ...nothing, isLoading: true, notice: null });
    await readWaiting({ api, store }).catch(fail);
    await shown.load().catch(fail);
  };
  return {
    open,
    async poll() {
      try {
        if (!(await readHealth({ api, store }))) return;
        await readWaiting({ api, store });
        await shown.load();
      } catch (error) {
        fail(error);
      }
    },
    async readShown() {
      store.set({ isLoading: true });
      await shown.load().catch(fail);
    },
    openNew() {
      const { hasMoreSessions } = store.get();
      const listed = listedSessions(store.get()).map(({ key }) => shortName(key));
      // Of a list that is not whole nobody knows which numbers are free.
      return open(hasMoreSessions ? `chat-${Date.now().toString(36)}` : freeSessionName(listed));
    },
    async list(asked) {
      store.set({ sessionsAsked: { ...store.get().sessionsAsked, ...asked } });
      await readHealth({ api, store }).catch(fail);
    },
    async send(text, steers = false) {
      if (text.trim() === "") return;
      if (isBusy(store.get()))
        return sayMeanwhile({ api, store }, text, steers ? "steer" : "follow");
      await followTurn({ api, store }, text);
      await refresh();
    },
    async takeBack(id) {
      await api.takeBack(store.get().key, id).catch(fail);
      await readWaiting({ api, store }).catch(fail);
    },
    async readWaiting(key) {
      if (isSameSession(key, store.get().key)) await readWaiting({ api, store }).catch(fail);
    },
    async answer(id, answer) {
      await api.answerApproval(id, answer).catch(fail);
      await readApprovals({ api, store }).catch(fail);
    },
    stop: () => api.abort(store.get().key).catch(fail),
    async showEarlier() {
      shown.askForEarlier();
      await shown.load().catch(fail);
    },
    readItem: api.contextItem,
  };
}

/** True when the session shown should be read again. */
async function readHealth({ api, store }: PageParts): Promise<boolean> {
  const [health, { sessions, hasMore, sideRequests }] = await Promise.all([
    api.health(),
    api.sessions(store.get().sessionsAsked),
    readApprovals({ api, store }),
  ]);
  const before = store.get();
  const isRestarted = before.health !== null && before.health.pid !== health.pid;
  const notice = isRestarted
    ? "The gateway was restarted; nothing stored was lost."
    : before.notice;
  const listed = { sessions, hasMoreSessions: hasMore, sideRequests };
  store.set({ connection: "ok", health, ...listed, notice });
  return before.connection !== "ok" || isChangedElsewhere(store.get());
}

async function readApprovals({ api, store }: PageParts): Promise<void> {
  store.set(await api.approvals());
}

/** A reply is being written in the session shown, whoever asked for it. */
const isBusy = (state: PageState): boolean =>
  isRunning(turnShown(state)) || state.session?.busy === true;

async function readWaiting({ api, store }: PageParts): Promise<void> {
  const { key } = store.get();
  const waiting = await api.waiting(key);
  if (store.get().key === key) store.set({ waiting });
}

/** Sends a message to wait; what comes of it is told with all that happens. */
async function sayMeanwhile(
  { api, store }: PageParts,
  text: string,
  whenBusy: WhenBusy,
): Promise<void> {
  const { key } = store.get();
  store.set({ draft: "", notice: null });
  try {
    for await (const event of api.send(key, text, whenBusy)) {
      if (event.type === "error") throw new ApiError(event.error.code, event.error.message);
      if (event.type === "command") showAnswer(store, key, event.text);
      // It is stored now.
      if (event.type === "waiting" || event.type === "accepted") break;
    }
    await readWaiting({ api, store });
  } catch (error) {
    const { code, message } = toProblem(error);
    const { draft } = store.get();
    store.set({
      ...(code === AWAY ? { connection: "away" } : { notice: message }),
      draft: draft.trim() === "" ? text : draft,
    });
  }
}

/** Below the reply that is being written, where it is this page's own. */
function showAnswer(store: PageParts["store"], key: string, text: string): void {
  const { turns } = store.get();
  const turn = turns[key];
  store.set(
    turn !== undefined && isRunning(turn)
      ? { turns: { ...turns, [key]: applyEvent(turn, { type: "notice", text }) } }
      : { notice: text },
  );
}

/** Sends a message in the session shown and keeps its turn up to date until it ends. */
async function followTurn({ api, store }: PageParts, text: string): Promise<void> {
  const { key, problems, told } = store.get();
  const { [key]: _old, ...otherProblems } = problems;
  const { [key]: _told, ...otherTold } = told;
  let turn = startTurn(text);
  const show = (next: LiveTurn) => {
    turn = next;
    store.set({ turns: { ...store.get().turns, [key]: turn } });
  };
  store.set({ draft: "", notice: null, problems: otherProblems, told: otherTold });
  show(turn);
  try {
    for await (const event of api.send(key, text)) {
      show(applyEvent(store.get().turns[key] ?? turn, event));
      if (event.type === "approval" || event.type === "approval_end")
        await readApprovals({ api, store });
    }
    if (isRunning(turn))
      throw new ApiError(AWAY, "The gateway stopped in the middle of the reply.");
  } catch (error) {
    const problem = toProblem(error);
    if (problem.code === AWAY) store.set({ connection: "away" });
    show(endTurn(turn, problem));
  }
}

/** Another client wrote to the session shown, or its reply began or ended. */
function isChangedElsewhere({ sessions, key, session, turns }: PageState): boolean {
  const row = sessions.find((each) => isSameSession(each.key, key));
  if (row === undefined || isRunning(turns[key])) return false;
  return session === null || row.updatedAt !== session.updatedAt || row.busy !== session.busy;
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
