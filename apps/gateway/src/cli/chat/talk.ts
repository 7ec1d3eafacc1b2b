// Talks in one session at a time, and follows what happens in it.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Approval, ApprovalAnswer } from "../../approvals/approval.ts";
import { foldChat } from "../../conversation/chat-view.ts";
import type { GatewayEvent } from "../../events/shapes.ts";
import { shortName } from "../../sessions/keys.ts";
import type { Output } from "../../terminal/output.ts";
import { type ChatApi, createChatApi, type Sent } from "./api.ts";
import { lastPieces } from "./last-pieces.ts";
import type { LiveScreen } from "./live-screen.ts";
import { ownHelp } from "./own-help.ts";
import { planAfterSend } from "./plan-after-send.ts";
import { planMissed, withoutStored } from "./plan-missed.ts";
import type { OpenedPort } from "./port.ts";
import type { SentText } from "./state.ts";
import { statusLineOf } from "./status-line.ts";
import { takeEvent } from "./take-event.ts";

export interface Talk {
  readonly api: ChatApi;
  /** Goes on in a session, whose last messages are shown. */
  enter(session: string): Promise<void>;
  send(sent: SentText): Promise<void>;
  cancel(): Promise<void>;
  answer(approval: Approval, answer: ApprovalAnswer): Promise<void>;
  askStatus(): Promise<void>;
  leave(given: { output: Output; leaving: AbortSignal; isBusy: boolean }): Promise<void>;
}

/** How many entries of a session are read to show its last messages. */
const SHOWN_ENTRIES = 60;
/** How soon a gateway that went away is asked again, ms. */
const AGAIN_MS = 1000;

export function createTalk({ screen, opened }: { screen: LiveScreen; opened: OpenedPort }): Talk {
  const { port } = opened;
  const api = createChatApi(port, opened.whenBusy);
  const chat = randomUUID();
  let following = new AbortController();
  /** The newest entry that is shown. */
  let seen: string | undefined;
  /** The entries that were read, and are not shown again when they are told. */
  let read: ReadonlySet<string> = new Set();
  /** What is being sent, and to which session each was sent first, by their numbers. */
  const underWay = new Set<number>();
  const sentTo = new Map<number, string>();
  /** The newest question for how the session stands, and the one whose answer is shown. */
  let statusAsked = 0;
  let statusShown = 0;
  const key = () => screen.state().conversation.key;

  async function enter(session: string): Promise<void> {
    const entered = await opened.keyOf(session);
    if (entered === undefined)
      return screen.print({ kind: "problem", text: `"${session}" is no name of a session.` });
    following.abort();
    following = new AbortController();
    screen.set({
      ...{ conversation: { key: entered, turn: null }, approvals: [], status: null },
      isReady: false,
    });
    const found = await api.entries(entered, SHOWN_ENTRIES);
    const place = port.place === null ? "" : `, through the gateway at ${port.place}`;
    const text = `session ${shortName(entered)}${place}. /help lists the commands, Ctrl-D quits.`;
    seen = found?.entries.at(-1)?.id;
    const items = foldChat(found?.entries ?? []);
    const isCut = found !== null && (found.totalEntries ?? Infinity) > SHOWN_ENTRIES;
    screen.print({ kind: "note", text }, ...lastPieces(items, isCut, screen.columns()));
    screen.set({ isReady: true });
    void follow(entered, following.signal);
    await resume(entered);
    sendWaiting();
    await askStatus();
  }
  /** What is on its way is not sent beside itself. */
  function sendWaiting(): void {
    for (const sent of screen.state().sent) if (!underWay.has(sent.id)) void send(sent);
  }
  async function resume(entered: string): Promise<void> {
    const resumed = await port.resume(entered);
    if (resumed === 0) return;
    const text = `(${resumed} waited from before, and come first; "/waiting clear" takes them back)`;
    screen.print({ kind: "note", text });
  }
  async function follow(followed: string, signal: AbortSignal): Promise<void> {
    let since: string | undefined;
    let isAway = false;
    while (!signal.aborted) {
      try {
        for await (const event of api.events(followed, since, signal)) {
          if (signal.aborted) return;
          since = event.id;
          if (isAway || event.type === "reset") await catchUp(followed, event);
          else take(event);
          if (isAway) comeBack();
          isAway = false;
        }
      } catch {
        // Whoever is away is asked again.
      }
      if (signal.aborted) return;
      if (!isAway) screen.print({ kind: "problem", text: AWAY });
      isAway = true;
      screen.set({ isReady: false });
      await delay(AGAIN_MS);
    }
  }
  function comeBack(): void {
    screen.set({ isReady: true });
    sendWaiting();
    void askStatus();
  }
  /** What a running turn has stored comes before what it is writing. */
  async function catchUp(followed: string, event: GatewayEvent): Promise<void> {
    const found = await api.entries(followed, SHOWN_ENTRIES).catch(() => null);
    const isRunning =
      (event.type === "hello" || event.type === "reset") &&
      event.running.some(({ session }) => session === followed);
    if (!isRunning) take(event);
    const entries = found?.entries ?? [];
    read = new Set(entries.map(({ id }) => id));
    const missed = planMissed(entries, seen);
    seen = missed.seen;
    screen.print(...missed.pieces);
    if (isRunning) take(withoutStored(event, entries));
  }
  function take(event: GatewayEvent): void {
    if (event.type === "approval") asked(event.approval);
    if (event.type === "approval_end") answered(event.approvalId, event.text);
    const { conversation, sent, status } = screen.state();
    const isStored = event.type === "accepted" || event.type === "message";
    if (isStored && event.session === conversation.key) seen = event.entryId;
    const isShown = isStored && read.has(event.entryId);
    const taken = takeEvent(conversation, event, Date.now(), isShown);
    const { accepted, turnMs } = taken;
    screen.set({
      conversation: taken.conversation,
      ...(accepted !== null && { sent: withoutSaid(sent, accepted.text) }),
      ...(turnMs !== null && status !== null && { status: { ...status, turnMs } }),
    });
    screen.print(...taken.pieces);
    // Whoever is asked sees how the session stands.
    if (taken.isChanged || event.type === "approval") void askStatus();
  }
  function asked(approval: Approval): void {
    const { approvals, draft } = screen.state();
    if (approvals.some((each) => each.approval.id === approval.id)) return;
    const mayBeAnswered = draft.text === "";
    screen.set({ approvals: [...approvals, { approval, mayBeAnswered }] });
  }
  function answered(id: string, text: string): void {
    const { approvals } = screen.state();
    const known = approvals.find(({ approval }) => approval.id === id);
    if (known === undefined) return;
    screen.set({ approvals: approvals.filter((each) => each !== known) });
    screen.print({ kind: "note", text: `(${known.approval.name}: ${text})` });
  }
  async function send(sent: SentText): Promise<void> {
    const done = () => screen.set({ sent: screen.state().sent.filter(({ id }) => id !== sent.id) });
    const to = sentTo.get(sent.id) ?? key();
    sentTo.set(sent.id, to);
    underWay.add(sent.id);
    const came: Sent = await api
      .send(to, { text: sent.text, name: `chat:${chat}:${sent.id}` }, ({ text, ok }) => {
        done();
        const command = sent.text.trim();
        const whole = ok && command === "/help" ? `${text}\n\n${ownHelp()}` : text;
        screen.print({ kind: "answer", command, text: whole, isRefusal: !ok });
      })
      .catch((error: unknown): Sent => {
        const message = `The gateway went away (${messageOf(error)}).`;
        return { kind: "refused", code: "AWAY", message };
      })
      .finally(() => underWay.delete(sent.id));
    const isWaiting = screen.state().sent.some(({ id }) => id === sent.id);
    const isLineEmpty = screen.state().draft.text === "";
    const next = planAfterSend(came, sent.text, { isWaiting, isLineEmpty });
    if (next.kind === "again") return sendLater(sent);
    done();
    if (next.kind === "answered") return askStatus();
    if (next.kind === "said") return;
    screen.print({ kind: "problem", text: next.problem });
    if (next.isKept) screen.set({ draft: { text: sent.text, cursor: sent.text.length } });
  }
  /** It is said once under its name. One that is back by then has been sent everything. */
  async function sendLater(sent: SentText): Promise<void> {
    await delay(AGAIN_MS);
    const { isReady, sent: waiting } = screen.state();
    const isWaiting = waiting.some(({ id }) => id === sent.id);
    if (isReady && isWaiting && !underWay.has(sent.id)) await send(sent);
  }
  async function askStatus(): Promise<void> {
    const asking = key();
    const asked = ++statusAsked;
    const facts = await api.status(asking).catch(() => undefined);
    // What was asked for later is newer, whichever comes first.
    if (facts === undefined || key() !== asking || asked < statusShown) return;
    statusShown = asked;
    screen.set({ status: statusLineOf(facts, screen.state().status?.turnMs ?? null) });
  }
  return {
    ...{ api, enter, send, askStatus },
    cancel: () => api.cancel(key()).catch(() => {}),
    async answer(approval, answer) {
      const problem = await port.answer(approval.id, answer).catch(messageOf);
      if (problem !== null) screen.print({ kind: "note", text: `(${problem})` });
    },
    async leave({ output, leaving, isBusy }) {
      following.abort();
      if (isBusy && port.place !== null) output.note("(the reply goes on in the gateway)");
      else if (isBusy) await api.cancel(key()).catch(() => {});
      await port.close(output, leaving);
    },
  };
}

const AWAY = "The gateway does not answer; what was sent and is not said yet waits until it does.";

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Pure. The oldest that says the same; where that is not told, the oldest. */
function withoutSaid(sent: readonly SentText[], said: string | undefined): readonly SentText[] {
  const index = said === undefined ? 0 : sent.findIndex(({ text }) => text.trim() === said.trim());
  return index < 0 ? sent : sent.toSpliced(index, 1);
}
