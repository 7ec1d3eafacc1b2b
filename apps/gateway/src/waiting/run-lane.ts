// Lets the messages of a session have their turns, one after the other.
import type { LogPort, TurnEvent, TurnResult } from "@clew/engine-core";
import { ContextEngineError, type UserMessage } from "@clew/plugin-sdk/core";
import { gatewayStopping } from "../stopping.ts";
import type { TurnRing } from "../streams/turn-ring.ts";
import { type Item, type SentResult, tellOf } from "./item.ts";
import type { Lane, Lanes } from "./lanes.ts";
import { keptForNextStart } from "./refusals.ts";
import type { SendRequest } from "./send-request.ts";
import type { SessionGate } from "./session-gate.ts";
import { MessageTakenBack } from "./taken-back.ts";
import type { TurnLine } from "./turn-line.ts";
import type { WaitingStore } from "./waiting-store.ts";

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

export interface LaneRunnerOptions {
  lanes: Lanes;
  /** Where other gateways may have the session. Undefined: there are none. */
  shared: WaitingStore["shared"];
  log: LogPort;
  /** In which turns stand until they run. */
  line: TurnLine;
  /** By which sessions have one turn at a time, and none beside a reply to a client. */
  gate: SessionGate;
  /** Runs one turn. */
  run(turn: InboxTurn): Promise<SentResult>;
  /** What is told of the turn that runs in a session; undefined = nobody remembers it. */
  told(key: string): TurnRing | undefined;
  /** Called before what a failed turn leaves behind is put in order. */
  onFailure(): void;
  /** Nothing begins any more. */
  isClosed(): boolean;
}

/** Gives the first message of a lane its turn, unless one has it; then the next. */
export function createLaneRunner(options: LaneRunnerOptions): (lane: Lane) => void {
  const { lanes, shared, log, line, gate, run, told, onFailure, isClosed } = options;

  const pump = (lane: Lane) => {
    const [first] = lane.items;
    if (isClosed() || lane.running !== undefined || first?.state !== "waiting") return;
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
        if (isClosed()) throw gatewayStopping();
        place = line.enter();
      }
      await Promise.race([place.granted, aborted(signal)]);
      if (isClosed()) throw gatewayStopping();
      item.state = "running";
      const result = await run(turnOf(lane, item));
      if (result.outcome !== "known") requireOwn(result);
      if (lane.items.includes(item)) {
        requireNotStopped(result);
        unsaid(lane, item, result);
      }
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
      lanes.tidy(lane);
      pump(lane);
    }
  };

  /** What another gateway took over meanwhile goes on there. Throws SESSION_LOCKED. */
  const requireOwn = ({ error }: TurnResult) => {
    if (shared !== undefined && error?.code === "SESSION_LOCKED")
      throw new ContextEngineError("SESSION_LOCKED", error.message);
  };

  /** Nothing of it is kept that was not kept before. Throws GATEWAY_STOPPING. */
  const requireNotStopped = (result: SentResult) => {
    if (isClosed() && result.outcome !== "known" && result.error?.kind === "aborted")
      throw gatewayStopping();
  };

  /**
   * Its turn is over, and did not store it: the session has it already, or could not be written.
   */
  const unsaid = (lane: Lane, item: Item, result: SentResult) => {
    if (result.outcome === "known" || result.error === null || !item.isKept)
      return void lanes.forgetQuietly(lane, item);
    stays(lane, item, result.error.message);
  };

  /** Another gateway has the session, and says what is kept for it. */
  const letGo = (lane: Lane, error: unknown) => {
    shared?.letGo(lane.key);
    for (const item of lane.items) {
      item.end.reject(error);
      if (item.isKept) lanes.news(lane, item, "failed");
    }
    lane.items = [];
  };

  const failed = (lane: Lane, item: Item, error: unknown) => {
    const isUnsaid = lane.items.includes(item);
    const isLater = isClosed() && isUnsaid && item.isKept;
    item.end.reject(isLater ? keptForNextStart() : error);
    for (const one of lane.joined) one.end.reject(error);
    if (!isUnsaid) return;
    if (shared !== undefined && ContextEngineError.is(error, "SESSION_LOCKED"))
      return letGo(lane, error);
    const isReused = ContextEngineError.is(error, "IDEMPOTENCY_KEY_REUSED");
    if (isReused && item.isKept) lanes.news(lane, item, "cancelled");
    const isOver = item.abort.signal.aborted || error instanceof MessageTakenBack || isReused;
    if (!item.isKept || isOver) return void lanes.forgetQuietly(lane, item);
    stays(lane, item, error instanceof Error ? error.message : String(error));
  };

  const stays = (lane: Lane, item: Item, problem: string) => {
    item.state = "waiting";
    if (isClosed()) return;
    // Whoever began it is told that it failed, and begins it again or not.
    if (item.request.kind !== undefined) {
      log.error(`a job's message in ${lane.key} could not begin: ${problem}`);
      return void lanes.forgetQuietly(lane, item);
    }
    // What was taken in is not lost: a person takes it back, or tries again by another message.
    item.problem = problem;
    // Another process may have it meanwhile.
    item.mayBeKnown = true;
    log.error(`a message that waits in ${lane.key} could not begin: ${item.problem}`);
    lanes.news(lane, item, "failed");
  };

  const beginOf = ({ key }: Lane, item: Item, entryId: string) => {
    const ring = told(key);
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
        void lanes.forgetQuietly(lane, item);
        if (item.isKept) lanes.news(lane, item, "begun");
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
      void lanes.forgetQuietly(lane, steered);
      lanes.news(lane, steered, "steered");
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

  return pump;
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
