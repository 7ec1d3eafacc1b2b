// Takes messages of people in, keeps those that wait, and lets each have its turn.
import { randomUUID } from "node:crypto";
import type { LogPort, TurnEvent, TurnResult } from "@clew/engine-core";
import { ContextEngineError, type UserMessage } from "@clew/plugin-sdk/core";
import type { WhenBusy } from "../config/when-busy.ts";
import { EndedEarly, gatewayStopping } from "../stopping.ts";
import type { TurnRing } from "../streams/turn-ring.ts";
import { planArrival, type WaitingLimits } from "./plan-arrival.ts";
import { gatewayFull, keptForNextStart, retryAfter, sessionBusy, sessionFull } from "./refusals.ts";
import type { SendRequest } from "./send-request.ts";
import type { SessionGate } from "./session-gate.ts";
import { MessageTakenBack } from "./taken-back.ts";
import type { TurnLine } from "./turn-line.ts";
import {
  bytesOfMessage,
  viewOf,
  type WaitingMessage,
  type WaitingView,
} from "./waiting-message.ts";
import type { CutTurn, WaitingStore } from "./waiting-store.ts";

/** What came of a message: its turn, or the entry that says it already. */
export type SentResult = TurnResult | { outcome: "known"; entryId: string };

/** Where what is told of a message begins. */
export interface ToldFrom {
  ring: TurnRing;
  /** Number of the event that told that it is stored. */
  number: number;
  entryId: string;
}

/** A message that was taken in. */
export interface Taken {
  /** Null: its turn has begun. */
  waiting: WaitingView | null;
  /** Resolves when it is stored; never where it has no turn of its own here. */
  begun: Promise<ToldFrom>;
  /** Rejects when it has no turn: it was taken back, or the gateway stops. */
  result: Promise<SentResult>;
}

export interface Inbox {
  /**
   * Durable, where it waits, when it resolves. Throws SESSION_BUSY, BACKLOG_FULL,
   * STORAGE_FAILED.
   */
  offer(request: SendRequest): Promise<Taken>;
  /**
   * Takes part in what becomes of a message that was kept under this name; its turn may have begun,
   * and what was told of it is told again. Null: it does not wait here, and has no turn now.
   */
  rejoin(request: Pick<SendRequest, "key" | "onEvent"> & { name: string }): Promise<Taken | null>;
  /** What waits in a session, in order. */
  list(key: string): WaitingView[];
  /** False: it does not wait, or not any more. Durable when it resolves. */
  takeBack(key: string, id: string): Promise<boolean>;
  /** How many were taken back. */
  clear(key: string): Promise<number>;
  /**
   * Takes in what waited when a process ended; of one session where one is named. To be called
   * before anything is offered there: what is written then holds only what is known.
   */
  takeIn(key?: string): Promise<number>;
  /** Lets what was taken in have its turn, unless a later message did. */
  resume(): void;
  /** Keys of sessions in which something waits or runs. */
  keys(): readonly string[];
  /**
   * Cancels the turn that begins in a session, or the requests of clients that wait there; false:
   * there is none. What was kept is taken back instead.
   */
  cancel(key: string, which: "running" | "waiting"): boolean;
  /** Keys of the sessions in which requests of clients wait for their turn. */
  asking(): ReadonlySet<string>;
  /** Messages that wait. */
  backlog(): number;
  /** Nothing that waits begins any more. */
  close(): void;
}

export interface InboxOptions {
  store: WaitingStore;
  log: LogPort;
  limits: WaitingLimits & { runningTurns: number };
  /** In which turns stand until they run. */
  line: TurnLine;
  /** By which sessions have one turn at a time, and none beside a reply to a client. */
  gate: SessionGate;
  /** What waits besides, of which the limits hold, too. Absent: nothing does. */
  backlogElsewhere?(): number;
  /** What `SendRequest.whenBusy` is where it is absent. */
  whenBusy: WhenBusy;
  /** Something that is no message of this inbox goes on in the session. */
  isBusyElsewhere(key: string): boolean;
  /** The session is open here. Absent: no other gateway opens it. */
  isOpen?(key: string): boolean;
  /** The entry that says a message of this name, where that is known at once. */
  entrySaying(key: string, idempotencyKey: string): string | undefined;
  /** Runs one turn. */
  run(turn: InboxTurn): Promise<SentResult>;
  /** What is told of the turn that runs in a session; undefined = nobody remembers it. */
  told(key: string): TurnRing | undefined;
  tell(event: WaitingNews): void;
  /** Called before what a failed turn leaves behind is put in order. Absent: nothing is done. */
  onFailure?(): void;
  now?: () => number;
}

/** One message whose turn it is. */
export interface InboxTurn {
  request: SendRequest;
  prompt: Pick<UserMessage, "content" | "idempotencyKey">;
  /** It may be said already: the session is looked through for it. */
  mayBeKnown: boolean;
  /** Entry whose turn a gateway cut short, and which goes on. Undefined: another one begins. */
  goesOnFrom: string | undefined;
  /** Asked once the session is open. False: it was taken back at another gateway. */
  waits(): Promise<boolean>;
  onEvent(event: TurnEvent): void;
  signal: AbortSignal;
  /** Absent: nobody steers this turn. */
  saidMeanwhile?: (() => readonly Omit<UserMessage, "role">[]) | undefined;
}

export interface WaitingNews {
  session: string;
  change: "added" | "begun" | "steered" | "cancelled" | "failed";
  messageId: string;
  /** Messages that wait in the session now. */
  waiting: number;
}

interface Item {
  request: SendRequest;
  message: WaitingMessage;
  bytes: number;
  /** Its file says it, once it is stored; the others are gone when the process is. */
  isKept: boolean;
  /** Entry that says it: its turn was cut short, and goes on. Absent: it is not said. */
  goesOnFrom?: string;
  /** Settles when it is stored, or could not be. Absent: nobody stores it. */
  stored?: Promise<void>;
  /** From an earlier process, or sent under a name of the client's own. */
  mayBeKnown: boolean;
  /** Where it is: "given" to a turn that has not stored it yet. */
  state: "arriving" | "waiting" | "given" | "running";
  problem: string | null;
  listeners: Set<(event: TurnEvent) => void>;
  /** Where what is told of it begins. Absent: its turn has not begun. */
  from?: ToldFrom;
  begun: PromiseWithResolvers<ToldFrom>;
  end: PromiseWithResolvers<SentResult>;
  abort: AbortController;
}

interface Lane {
  key: string;
  /** In order; the one whose turn runs is not among them once it is stored. */
  items: Item[];
  running: Item | undefined;
  /** Those that the running turn took in. */
  joined: Item[];
}

export function createInbox(options: InboxOptions): Inbox {
  const { store, log, limits, isBusyElsewhere, run, tell, now = Date.now } = options;
  const { onFailure = () => {}, isOpen = () => true } = options;
  const { shared } = store;
  const lanes = new Map<string, Lane>();
  const { line, gate, backlogElsewhere = () => 0 } = options;
  let isClosed = false;

  const laneOf = (key: string): Lane => {
    const lane = lanes.get(key) ?? { key, items: [], running: undefined, joined: [] };
    lanes.set(key, lane);
    return lane;
  };
  const waitingIn = (lane: Lane | undefined) =>
    (lane?.items ?? []).filter((item) => item.isKept || item.state !== "running");
  /** Whose requests wait for their turn, and are told of what becomes of them. */
  const clientsIn = (lane: Lane | undefined) =>
    (lane?.items ?? []).filter(
      ({ request, state }) => request.client !== undefined && state === "waiting",
    );
  const backlog = () => {
    let count = 0;
    for (const lane of lanes.values()) count += waitingIn(lane).length;
    return count;
  };
  /** Of the lane that the session has when it is written: there may be another one by then. */
  const save = ({ key }: Lane) =>
    store.save(key, () =>
      (lanes.get(key)?.items ?? []).flatMap(({ isKept, message }) => (isKept ? [message] : [])),
    );
  const news = (lane: Lane, { message: { id } }: Item, change: WaitingNews["change"]) =>
    tell({ session: lane.key, change, messageId: id, waiting: waitingIn(lane).length });
  /** It is said in its session, or will not be; what is left of it in the file is harmless. */
  const forget = async (lane: Lane, item: Item) => {
    lane.items = lane.items.filter((other) => other !== item);
    if (lane.items.length === 0 && lane.running === undefined) lanes.delete(lane.key);
    if (item.isKept) await save(lane);
  };
  const forgetQuietly = (lane: Lane, item: Item) =>
    forget(lane, item).catch((error: Error) =>
      log.warn(`a message that is said already is still kept as one that waits: ${error.message}`),
    );

  const pump = (lane: Lane) => {
    const [first] = lane.items;
    if (isClosed || lane.running !== undefined || first?.state !== "waiting") return;
    if (first.problem !== null) return;
    lane.running = first;
    void begin(lane, first);
  };

  const begin = async (lane: Lane, item: Item) => {
    const alone = gate.enter(lane.key, "alone");
    let place = alone.isIn ? line.enter() : undefined;
    const { signal } = item.abort;
    const giveUp = () => {
      place?.leave();
      alone.leave();
    };
    signal.addEventListener("abort", giveUp);
    try {
      if (place === undefined) {
        await Promise.race([alone.granted, aborted(signal)]);
        if (isClosed) throw gatewayStopping();
        place = line.enter();
      }
      await Promise.race([place.granted, aborted(signal)]);
      if (isClosed) throw gatewayStopping();
      item.state = "running";
      const result = await run(turnOf(lane, item));
      if (result.outcome !== "known") requireOwn(result);
      if (lane.items.includes(item)) unsaid(lane, item, result);
      for (const one of [item, ...lane.joined]) one.end.resolve(result);
    } catch (error) {
      onFailure();
      failed(lane, item, error);
    } finally {
      signal.removeEventListener("abort", giveUp);
      giveUp();
      lane.running = undefined;
      lane.joined = [];
      for (const one of lane.items) if (one.state === "given") one.state = "waiting";
      if (lane.items.length === 0) lanes.delete(lane.key);
      pump(lane);
    }
  };

  /** What another gateway took over meanwhile goes on there. Throws SESSION_LOCKED. */
  const requireOwn = ({ error }: TurnResult) => {
    if (shared !== undefined && error?.code === "SESSION_LOCKED")
      throw new ContextEngineError("SESSION_LOCKED", error.message);
  };

  /**
   * Its turn is over, and did not store it: the session has it already, or could not be written.
   */
  const unsaid = (lane: Lane, item: Item, result: SentResult) => {
    if (result.outcome === "known" || result.error === null || !item.isKept)
      return void forgetQuietly(lane, item);
    stays(lane, item, result.error.message);
  };

  /** Another gateway has the session, and says what is kept for it. */
  const letGo = (lane: Lane, error: unknown) => {
    shared?.letGo(lane.key);
    for (const item of lane.items) {
      item.end.reject(error);
      if (item.isKept) news(lane, item, "failed");
    }
    lane.items = [];
  };

  const failed = (lane: Lane, item: Item, error: unknown) => {
    const isUnsaid = lane.items.includes(item);
    const isLater = isClosed && isUnsaid && item.isKept;
    item.end.reject(isLater ? keptForNextStart() : error);
    for (const one of lane.joined) one.end.reject(error);
    if (!isUnsaid) return;
    if (shared !== undefined && ContextEngineError.is(error, "SESSION_LOCKED"))
      return letGo(lane, error);
    const isOver = item.abort.signal.aborted || error instanceof MessageTakenBack;
    if (!item.isKept || isOver) return void forgetQuietly(lane, item);
    stays(lane, item, error instanceof Error ? error.message : String(error));
  };

  const stays = (lane: Lane, item: Item, problem: string) => {
    item.state = "waiting";
    if (isClosed) return;
    // Whoever began it is told that it failed, and begins it again or not.
    if (item.request.kind !== undefined) {
      log.error(`a job's message in ${lane.key} could not begin: ${problem}`);
      return void forgetQuietly(lane, item);
    }
    // What was taken in is not lost: a person takes it back, or tries again by another message.
    item.problem = problem;
    // Another process may have it meanwhile.
    item.mayBeKnown = true;
    log.error(`a message that waits in ${lane.key} could not begin: ${item.problem}`);
    news(lane, item, "failed");
  };

  const beginOf = ({ key }: Lane, item: Item, entryId: string) => {
    const ring = options.told(key);
    const number = ring?.numberOf(entryId);
    if (ring === undefined || number === undefined) return;
    item.from = { ring, number, entryId };
    item.begun.resolve(item.from);
  };

  const turnOf = (lane: Lane, item: Item): InboxTurn => {
    const { content, idempotencyKey } = item.message;
    const byKey = new Map<string, Item>();
    const onEvent = (event: TurnEvent) => {
      if (event.type === "accepted") {
        void forgetQuietly(lane, item);
        if (item.isKept) news(lane, item, "begun");
      }
      const steered =
        event.type === "message" && event.message.role === "user"
          ? byKey.get(event.message.idempotencyKey ?? "")
          : undefined;
      if (event.type === "accepted") beginOf(lane, item, event.entryId);
      for (const one of [item, ...lane.joined]) tellOf(one, event);
      if (event.type !== "message" || steered === undefined) return;
      lane.joined.push(steered);
      steered.state = "running";
      beginOf(lane, steered, event.entryId);
      tellOf(steered, { type: "accepted", entryId: event.entryId });
      void forgetQuietly(lane, steered);
      news(lane, steered, "steered");
    };
    const saidMeanwhile = () => {
      const given = lane.items.filter(
        ({ state, message }) => state === "waiting" && message.whenBusy === "steer",
      );
      return given.map((one) => {
        one.state = "given";
        byKey.set(one.message.idempotencyKey, one);
        const { content: said, idempotencyKey: key } = one.message;
        return { content: said, idempotencyKey: key };
      });
    };
    const isSteered = item.request.kind === undefined;
    return {
      ...{ request: item.request, prompt: { content, idempotencyKey }, onEvent },
      ...{ mayBeKnown: item.mayBeKnown, goesOnFrom: item.goesOnFrom },
      waits: async () =>
        !item.isKept || shared === undefined || shared.waits(lane.key, idempotencyKey),
      signal: item.abort.signal,
      ...(isSteered && { saidMeanwhile }),
    };
  };

  const itemOf = (request: SendRequest, message: WaitingMessage): Item => {
    const item: Item = {
      ...{ request, message, bytes: bytesOfMessage(message.content), isKept: false },
      ...{ mayBeKnown: request.idempotencyKey !== undefined, state: "arriving", problem: null },
      listeners: new Set(request.onEvent && [request.onEvent]),
      begun: Promise.withResolvers<ToldFrom>(),
      end: Promise.withResolvers<SentResult>(),
      abort: new AbortController(),
    };
    // Whoever waits for it hears of it; nobody has to.
    item.end.promise.catch(() => {});
    return item;
  };

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
    const item = itemOf({ key, content, kind: __openclaw?.kind }, kept ?? own);
    const isKept = kept !== undefined;
    return Object.assign(item, { goesOnFrom: entryId, state: "waiting" as const, isKept });
  };

  /** Whoever sent it leaves, and wants it to end with that. */
  const followSender = (lane: Lane, item: Item) => {
    const { signal } = item.request;
    if (signal === undefined) return;
    const leave = () => {
      // Its turn is another one's, too.
      if (!lane.joined.includes(item)) end(lane, item, signal.reason);
    };
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    const stop = () => signal.removeEventListener("abort", leave);
    item.end.promise.then(stop, stop);
  };
  const end = (lane: Lane, item: Item, reason: unknown) => {
    if (item.state !== "waiting") return item.abort.abort(reason);
    item.end.reject(reason);
    item.abort.abort(reason);
    news(lane, item, "cancelled");
    void forgetQuietly(lane, item);
  };

  const known = (lane: Lane | undefined, key: string | undefined): Item | undefined =>
    key === undefined || lane === undefined
      ? undefined
      : [lane.running, ...lane.items, ...lane.joined].find(
          (item) => item?.message.idempotencyKey === key,
        );

  /** What is acknowledged is durable, to whoever sent it. */
  const join = async (again: Item, onEvent: SendRequest["onEvent"]): Promise<Taken> => {
    await again.stored;
    return joinAgain(again, onEvent);
  };
  const sayingEntry = (key: string, name: string | undefined): Taken | null => {
    const entryId = name === undefined ? undefined : options.entrySaying(key, name);
    return entryId === undefined
      ? null
      : { waiting: null, begun: NEVER, result: Promise.resolve({ outcome: "known", entryId }) };
  };
  /** What is to be done in a session, without letting it begin. */
  const takeInLeft = async (sessionKey: string): Promise<number> => {
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
    const lane = laneOf(sessionKey);
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
      const item = itemOf({ key: sessionKey, content, allowTools, kind }, message);
      Object.assign(item, { isKept: true, mayBeKnown: true, state: "waiting" });
      lane.items.push(item);
    }
    shared?.hold(
      sessionKey,
      fresh.map(({ idempotencyKey }) => idempotencyKey),
    );
    if (lane.items.length === 0 && lane.running === undefined) lanes.delete(sessionKey);
    return fresh.length;
  };

  const place = (lane: Lane, { request, bytes, whenBusy }: Offer) => {
    const waiting = waitingIn(lane);
    const sum = waiting.reduce((total, item) => total + item.bytes, 0);
    const standing = { messages: waiting.length, bytes: sum };
    const ahead = backlog() + backlogElsewhere();
    // Jobs and clients of the door have bounds of their own; they wait for as long as they take.
    const isPatient = request.kind !== undefined;
    const plan = planArrival(
      { whenBusy, bytes, isPatient },
      {
        isBusy:
          lane.running !== undefined ||
          !gate.isFree(lane.key, "alone") ||
          isBusyElsewhere(lane.key),
        ...{ waiting: standing, hasRoom: line.hasRoom(), backlog: ahead },
      },
      limits,
    );
    const usualMs = line.usualMs();
    switch (plan.kind) {
      case "busy":
        throw sessionBusy(lane.key);
      case "full": {
        if (plan.where === "session")
          throw sessionFull(lane.key, standing, limits, retryAfter(1, { usualMs, atOnce: 1 }));
        const atOnce = limits.runningTurns;
        throw gatewayFull(ahead, retryAfter(ahead, { usualMs, atOnce }));
      }
      default:
        return plan.kind;
    }
  };

  return {
    backlog,
    list: (key) =>
      (lanes.get(key)?.items ?? []).flatMap(({ message, problem, isKept, state }) =>
        isKept && state !== "arriving" ? [viewOf(message, problem)] : [],
      ),
    async offer(request) {
      if (isClosed) throw gatewayStopping();
      const { key, content, client, kind, idempotencyKey: name, onEvent } = request;
      // What was kept for it at other gateways comes first.
      if (shared !== undefined && !lanes.has(key) && !isOpen(key)) await takeInLeft(key);
      const again = known(lanes.get(key), name);
      if (again !== undefined) {
        const taken = await join(again, onEvent);
        resumeOne(key);
        return taken;
      }
      const said = sayingEntry(key, name);
      if (said !== null) return said;
      const asked = request.whenBusy ?? options.whenBusy;
      // Neither a client's turn nor a job's is for others to take in, or refused by a default.
      const whenBusy = client === undefined && kind === undefined ? asked : "follow";
      const lane = laneOf(key);
      const bytes = bytesOfMessage(content);
      try {
        const plan = place(lane, { request, bytes, whenBusy });
        const id = randomUUID();
        const { idempotencyKey = `waiting:${id}`, allowTools = [] } = request;
        const item = itemOf(request, {
          ...{ id, at: new Date(now()).toISOString(), content, idempotencyKey },
          whenBusy: whenBusy === "steer" ? "steer" : "follow",
          ...(allowTools.length > 0 && { allowTools: [...allowTools] }),
        });
        lane.items.push(item);
        for (const other of lane.items) other.problem = null;
        // Clients of the door send again by themselves, and jobs are kept as jobs.
        item.isKept = plan === "wait" && client === undefined && kind === undefined;
        if (item.isKept) item.stored = keep(lane, item);
        await item.stored;
        // Another gateway turned out to have the session meanwhile.
        if (item.isKept && !lane.items.includes(item)) shared?.letGo(key, [idempotencyKey]);
        if (item.state === "arriving") item.state = "waiting";
        if (isClosed) item.end.reject(item.isKept ? keptForNextStart() : gatewayStopping());
        if (item.isKept) news(lane, item, "added");
        const waiting = item.isKept ? viewOf(item.message) : null;
        followSender(lane, item);
        pump(lane);
        return { waiting, begun: item.begun.promise, result: item.end.promise };
      } finally {
        if (lane.items.length === 0 && lane.running === undefined) lanes.delete(key);
      }
    },
    async takeBack(key, id) {
      const lane = lanes.get(key);
      const item = lane?.items.find(
        ({ message, state }) => message.id === id && state === "waiting",
      );
      if (lane === undefined || item === undefined) return false;
      return takeBackOne(lane, item).then(() => true);
    },
    async clear(key) {
      const lane = lanes.get(key);
      if (lane === undefined) return 0;
      const items = lane.items.filter(({ state, isKept }) => isKept && state === "waiting");
      await Promise.all(items.map((item) => takeBackOne(lane, item)));
      return items.length;
    },
    async takeIn(key) {
      if (key !== undefined) return takeInLeft(key);
      await store.tidy();
      let count = 0;
      for (const { sessionKey, messages } of await store.all())
        count += takeInOne(sessionKey, messages);
      return count;
    },
    async rejoin({ key, name, onEvent }) {
      const here = known(lanes.get(key), name);
      if (here !== undefined) return join(here, onEvent);
      const said = sayingEntry(key, name);
      if (said !== null) return said;
      await takeInLeft(key);
      const found = known(lanes.get(key), name);
      const joined = found === undefined ? null : await join(found, onEvent);
      resumeOne(key);
      return joined;
    },
    keys: () => [...lanes.keys()],
    resume() {
      for (const lane of lanes.values()) pump(lane);
    },
    cancel(key, which) {
      const lane = lanes.get(key);
      const reason = new EndedEarly("Cancelled by the person.");
      if (which === "running") {
        const item = lane?.running;
        // What was acknowledged is stored first; then its turn is there to be cancelled.
        if (item?.state !== "running" || item.isKept) return false;
        item.abort.abort(reason);
        return true;
      }
      const asking = clientsIn(lane);
      for (const item of asking) end(lane!, item, reason);
      return asking.length > 0;
    },
    asking: () =>
      new Set(
        [...lanes.values()].flatMap((lane) => (clientsIn(lane).length > 0 ? [lane.key] : [])),
      ),
    close() {
      isClosed = true;
      for (const lane of lanes.values())
        for (const item of lane.items)
          if (item.state === "waiting")
            item.end.reject(item.isKept ? keptForNextStart() : gatewayStopping());
    },
  };

  function resumeOne(key: string): void {
    const lane = lanes.get(key);
    if (lane !== undefined) pump(lane);
  }

  /** Nothing of it stays where it could not be stored. */
  async function keep(lane: Lane, item: Item): Promise<void> {
    try {
      await save(lane);
    } catch (error) {
      item.isKept = false;
      lane.items = lane.items.filter((other) => other !== item);
      throw error;
    }
  }

  async function takeBackOne(lane: Lane, item: Item): Promise<void> {
    item.end.reject(new MessageTakenBack());
    item.abort.abort();
    await forget(lane, item);
    news(lane, item, "cancelled");
    pump(lane);
  }
}

interface Offer {
  request: SendRequest;
  bytes: number;
  whenBusy: WhenBusy;
}

const NEVER = new Promise<never>(() => {});

function tellOf({ listeners }: Item, event: TurnEvent): void {
  for (const listener of listeners) listener(event);
}

/** The same message once more, from whoever did not hear that it was taken in. */
function joinAgain(item: Item, onEvent: SendRequest["onEvent"]): Taken {
  if (onEvent !== undefined) {
    for (const event of toldOf(item)) onEvent(event);
    item.listeners.add(onEvent);
  }
  const waits = item.isKept && item.state !== "running";
  const waiting = waits ? viewOf(item.message, item.problem) : null;
  return { waiting, begun: item.begun.promise, result: item.end.promise };
}

function toldOf({ from }: Item): TurnEvent[] {
  if (from === undefined) return [];
  const { ring, number, entryId } = from;
  const events = ring
    .after(number)
    .events.flatMap(({ event }) =>
      event.type === "approval" || event.type === "approval_end" ? [] : [event],
    );
  return [{ type: "accepted", entryId }, ...events];
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
