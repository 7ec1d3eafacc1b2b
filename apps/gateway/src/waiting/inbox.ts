// Takes messages of people in, keeps those that wait, and lets each have its turn.
import { randomUUID } from "node:crypto";
import type { LogPort } from "@clew/engine-core";
import type { UserMessage } from "@clew/plugin-sdk/core";
import type { WhenBusy } from "../config/when-busy.ts";
import { createKeyedQueue } from "../sessions/queues.ts";
import { EndedEarly, gatewayStopping } from "../stopping.ts";
import { createItem, type Item, join, type Taken, takenAsSaid } from "./item.ts";
import { createLanes, type Lane, type WaitingNews } from "./lanes.ts";
import { planArrival, type WaitingLimits } from "./plan-arrival.ts";
import { gatewayFull, keptForNextStart, retryAfter, sessionBusy, sessionFull } from "./refusals.ts";
import { createLaneRunner, type LaneRunnerOptions } from "./run-lane.ts";
import { requireSame } from "./same-message.ts";
import type { SendRequest } from "./send-request.ts";
import { createTakeIn } from "./take-in.ts";
import { MessageTakenBack } from "./taken-back.ts";
import { bytesOfMessage, viewOf, type WaitingView } from "./waiting-message.ts";
import type { WaitingStore } from "./waiting-store.ts";

export interface Inbox {
  /**
   * Durable, where it waits, when it resolves. Throws SESSION_BUSY, BACKLOG_FULL,
   * STORAGE_FAILED, IDEMPOTENCY_KEY_REUSED.
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

/** An entry that says a message. */
export interface SaidEntry {
  entryId: string;
  content: UserMessage["content"];
}

export interface InboxOptions extends Pick<LaneRunnerOptions, "line" | "gate" | "run" | "told"> {
  store: WaitingStore;
  log: LogPort;
  limits: WaitingLimits & { runningTurns: number };
  /** What waits besides, of which the limits hold, too. Absent: nothing does. */
  backlogElsewhere?(): number;
  /** What `SendRequest.whenBusy` is where it is absent. */
  whenBusy: WhenBusy;
  /** Something that is no message of this inbox goes on in the session. */
  isBusyElsewhere(key: string): boolean;
  /** The session is open here. Absent: no other gateway opens it. */
  isOpen?(key: string): boolean;
  /** The entry that says a message of this name, where that is known at once. */
  entrySaying(key: string, idempotencyKey: string): SaidEntry | undefined;
  tell(event: WaitingNews): void;
  /** Called before what a failed turn leaves behind is put in order. Absent: nothing is done. */
  onFailure?(): void;
  now?: () => number;
}

export function createInbox(options: InboxOptions): Inbox {
  const { store, log, limits, line, gate, isBusyElsewhere, now = Date.now } = options;
  const { onFailure = () => {}, isOpen = () => true, backlogElsewhere = () => 0 } = options;
  const { shared } = store;
  let isClosed = false;
  const lanes = createLanes({ store, log, tell: options.tell });
  const takeIn = createTakeIn({ lanes, store, isBusyElsewhere, isOpen, now });
  const pump = createLaneRunner({
    ...{ lanes, shared, log, line, gate, onFailure },
    ...{ run: options.run, told: options.told, isClosed: () => isClosed },
  });

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
    lanes.news(lane, item, "cancelled");
    void lanes.forgetQuietly(lane, item);
  };

  const lookups = createKeyedQueue();
  const isUnknown = (key: string) => lanes.get(key) === undefined && !isOpen(key);
  /** What was kept for it at other gateways comes first; and so does who asked for it before. */
  const takeInFirst = async (key: string): Promise<void> => {
    if (!isUnknown(key) && !lookups.pending.has(key)) return;
    await lookups.enqueue(key, async () => {
      if (isUnknown(key)) await takeIn.left(key);
    });
  };

  const sayingEntry = (key: string, name: string | undefined, sent?: Sent): Taken | null => {
    const said = name === undefined ? undefined : options.entrySaying(key, name);
    if (said === undefined) return null;
    if (sent !== undefined) requireSame(key, { sent, before: said.content });
    return takenAsSaid(said.entryId);
  };

  const place = (lane: Lane, { request, bytes, whenBusy }: Offer) => {
    const waiting = lanes.waitingIn(lane);
    const sum = waiting.reduce((total, item) => total + item.bytes, 0);
    const standing = { messages: waiting.length, bytes: sum };
    const ahead = lanes.backlog() + backlogElsewhere();
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
    backlog: lanes.backlog,
    list: (key) =>
      (lanes.get(key)?.items ?? []).flatMap(({ message, problem, isKept, state }) =>
        isKept && state !== "arriving" ? [viewOf(message, problem)] : [],
      ),
    async offer(request) {
      if (isClosed) throw gatewayStopping();
      const { key, content, client, kind, idempotencyKey: name, onEvent } = request;
      if (shared !== undefined) await takeInFirst(key);
      // What a job says may have been changed since its run began.
      const sent = kind === undefined ? content : undefined;
      const again = lanes.known(key, name);
      if (again !== undefined) {
        if (sent !== undefined) requireSame(key, { sent, before: again.message.content });
        const taken = await join(again, onEvent);
        resumeOne(key);
        return taken;
      }
      const said = sayingEntry(key, name, sent);
      if (said !== null) return said;
      const asked = request.whenBusy ?? options.whenBusy;
      // Neither a client's turn nor a job's is for others to take in, or refused by a default.
      const whenBusy = client === undefined && kind === undefined ? asked : "follow";
      const lane = lanes.of(key);
      const bytes = bytesOfMessage(content);
      try {
        const plan = place(lane, { request, bytes, whenBusy });
        const id = randomUUID();
        const { idempotencyKey = `waiting:${id}`, allowTools = [] } = request;
        const item = createItem(request, {
          ...{ id, at: new Date(now()).toISOString(), content, idempotencyKey },
          whenBusy: whenBusy === "steer" ? "steer" : "follow",
          ...(allowTools.length > 0 && { allowTools: [...allowTools] }),
        });
        lane.items.push(item);
        for (const other of lane.items) other.problem = null;
        // Clients of the door send again by themselves, and jobs are kept as jobs.
        item.isKept = plan === "wait" && client === undefined && kind === undefined;
        if (item.isKept) item.stored = lanes.keep(lane, item);
        await item.stored;
        // Another gateway turned out to have the session meanwhile.
        if (item.isKept && !lane.items.includes(item)) shared?.letGo(key, [idempotencyKey]);
        if (item.state === "arriving") item.state = "waiting";
        if (isClosed) item.end.reject(item.isKept ? keptForNextStart() : gatewayStopping());
        if (item.isKept) lanes.news(lane, item, "added");
        const waiting = item.isKept ? viewOf(item.message) : null;
        followSender(lane, item);
        pump(lane);
        return { waiting, begun: item.begun.promise, result: item.end.promise };
      } finally {
        lanes.tidy(lane);
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
    takeIn: (key) => (key === undefined ? takeIn.all() : takeIn.left(key)),
    async rejoin({ key, name, onEvent }) {
      const here = lanes.known(key, name);
      if (here !== undefined) return join(here, onEvent);
      const said = sayingEntry(key, name);
      if (said !== null) return said;
      await takeIn.left(key);
      const found = lanes.known(key, name);
      const joined = found === undefined ? null : await join(found, onEvent);
      resumeOne(key);
      return joined;
    },
    keys: () => lanes.all().map(({ key }) => key),
    resume() {
      for (const lane of lanes.all()) pump(lane);
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
      const asking = lanes.clientsIn(lane);
      for (const item of asking) end(lane!, item, reason);
      return asking.length > 0;
    },
    asking: () =>
      new Set(lanes.all().flatMap((lane) => (lanes.clientsIn(lane).length > 0 ? [lane.key] : []))),
    close() {
      isClosed = true;
      for (const lane of lanes.all())
        for (const item of lane.items)
          if (item.state === "waiting")
            item.end.reject(item.isKept ? keptForNextStart() : gatewayStopping());
    },
  };

  function resumeOne(key: string): void {
    const lane = lanes.get(key);
    if (lane !== undefined) pump(lane);
  }

  async function takeBackOne(lane: Lane, item: Item): Promise<void> {
    item.end.reject(new MessageTakenBack());
    item.abort.abort();
    await lanes.forget(lane, item);
    lanes.news(lane, item, "cancelled");
    pump(lane);
  }
}

type Sent = SendRequest["content"];

interface Offer {
  request: SendRequest;
  bytes: number;
  whenBusy: WhenBusy;
}
