// Does what the page is asked to do and follows a gateway that may come and go.
import type { ApprovalAnswer } from "../src/approvals/approval.ts";
import { shortName } from "../src/sessions/keys.ts";
import type { Api } from "./api.ts";
import { ApiError } from "./http.ts";
import {
  applyEvent,
  endTurn,
  isRunning,
  type LiveTurn,
  type Problem,
  startTurn,
} from "./live-turn.ts";
import { freeSessionName, isSameSession, listedSessions, type PageState } from "./page-state.ts";
import { AWAY } from "./settle-turn.ts";
import { createShownSession, type PageParts } from "./shown-session.ts";

export interface Controller {
  /** Asks the gateway how it is, and reads again what changed. */
  poll(): Promise<void>;
  open(key: string): Promise<void>;
  openNew(): Promise<void>;
  send(text: string): Promise<void>;
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
    store.set({ key, session: null, context: null, isLoading: true, notice: null });
    await shown.load().catch(fail);
  };
  return {
    open,
    async poll() {
      try {
        if (await readHealth({ api, store })) await shown.load();
      } catch (error) {
        fail(error);
      }
    },
    openNew: () =>
      open(freeSessionName(listedSessions(store.get()).map(({ key }) => shortName(key)))),
    async send(text) {
      if (text.trim() === "" || isRunning(store.get().turns[store.get().key])) return;
      await followTurn({ api, store }, text);
      await refresh();
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
  const health = await api.health();
  const sessions = await api.sessions();
  await readApprovals({ api, store });
  const before = store.get();
  const isRestarted = before.health !== null && before.health.pid !== health.pid;
  const notice = isRestarted
    ? "The gateway was restarted; nothing stored was lost."
    : before.notice;
  store.set({ connection: "ok", health, sessions, notice });
  return before.connection !== "ok" || isChangedElsewhere(store.get());
}

async function readApprovals({ api, store }: PageParts): Promise<void> {
  store.set(await api.approvals());
}

/** Sends a message in the session shown and keeps its turn up to date until it ends. */
async function followTurn({ api, store }: PageParts, text: string): Promise<void> {
  const { key, problems } = store.get();
  const { [key]: _old, ...otherProblems } = problems;
  let turn = startTurn(text);
  const show = (next: LiveTurn) => {
    turn = next;
    store.set({ turns: { ...store.get().turns, [key]: turn } });
  };
  store.set({ draft: "", notice: null, problems: otherProblems });
  show(turn);
  try {
    for await (const event of api.send(key, text)) {
      show(applyEvent(turn, event));
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
