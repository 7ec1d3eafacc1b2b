// Takes in what was left to be done in sessions, without letting it begin.
import { randomUUID } from "node:crypto";
import { createItem, type Item } from "./item.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { WaitingMessage } from "./waiting-message.ts";
import type { CutTurn, WaitingStore } from "./waiting-store.ts";

export interface TakeIn {
  /** Of one session; how many messages. */
  left(sessionKey: string): Promise<number>;
  /** Of all that is stored; how many messages. */
  all(): Promise<number>;
}

export interface TakeInOptions {
  lanes: Lanes;
  store: WaitingStore;
  /** Something that is no message of this inbox goes on in the session. */
  isBusyElsewhere(key: string): boolean;
  /** The session is open here. */
  isOpen(key: string): boolean;
  now: () => number;
}

export function createTakeIn({
  lanes,
  store,
  isBusyElsewhere,
  isOpen,
  now,
}: TakeInOptions): TakeIn {
  const { shared } = store;

  /** Under the name of its message, so that whoever sends that again hears what comes of it. */
  const goingOn = (
    key: string,
    { entryId, prompt: { content, idempotencyKey = `cut:${entryId}`, __openclaw } }: CutTurn,
    messages: readonly WaitingMessage[],
  ): Item => {
    // Whoever did not hear that it was said kept it once more.
    const kept = messages.find((message) => message.idempotencyKey === idempotencyKey);
    if (kept !== undefined) shared?.hold(key, [idempotencyKey]);
    const at = new Date(now()).toISOString();
    const own = { id: randomUUID(), at, whenBusy: "follow" as const, content, idempotencyKey };
    const item = createItem({ key, content, kind: __openclaw?.kind }, kept ?? own);
    const isKept = kept !== undefined;
    return Object.assign(item, { goesOnFrom: entryId, state: "waiting" as const, isKept });
  };

  /** What is to be done in a session, without letting it begin. */
  const left: TakeIn["left"] = async (sessionKey) => {
    if (shared === undefined) return takeInOne(sessionKey, await store.read(sessionKey));
    const { messages, cut } = await shared.left(sessionKey);
    return takeInOne(sessionKey, messages, cut);
  };
  /** One that runs here is not cut short. */
  const isUntouched = ({ key, running, items }: Lane) =>
    running === undefined &&
    !isOpen(key) &&
    !isBusyElsewhere(key) &&
    items.every(({ goesOnFrom }) => goesOnFrom === undefined);
  const takeInOne = (
    sessionKey: string,
    messages: readonly WaitingMessage[],
    cut: CutTurn | null = null,
  ): number => {
    const lane = lanes.of(sessionKey);
    if (cut !== null && isUntouched(lane)) lane.items.unshift(goingOn(sessionKey, cut, messages));
    const here = [lane.running, ...lane.items, ...lane.joined].flatMap((item) =>
      item === undefined ? [] : [item.message],
    );
    const [ids, names] = [
      new Set(here.map(({ id }) => id)),
      new Set(here.map(({ idempotencyKey }) => idempotencyKey)),
    ];
    const fresh = messages.filter(
      ({ id, idempotencyKey }) => !ids.has(id) && !names.has(idempotencyKey),
    );
    for (const message of fresh) {
      const { content, allowTools, kind } = message;
      const item = createItem({ key: sessionKey, content, allowTools, kind }, message);
      Object.assign(item, { isKept: true, mayBeKnown: true, state: "waiting" });
      lane.items.push(item);
    }
    shared?.hold(
      sessionKey,
      fresh.map(({ idempotencyKey }) => idempotencyKey),
    );
    lanes.tidy(lane);
    return fresh.length;
  };

  return {
    left,
    async all() {
      await store.tidy();
      let count = 0;
      for (const { sessionKey, messages } of await store.all())
        count += takeInOne(sessionKey, messages);
      return count;
    },
  };
}
