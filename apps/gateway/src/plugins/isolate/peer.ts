// Calls functions of another process with functions, signals and messages.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Duplex } from "node:stream";
import { openFrames, PLUGIN_BYTES } from "./frames.ts";
import { errorFrom, type SentError, sendableError } from "./sent-errors.ts";
import {
  backList,
  createBorrower,
  createLender,
  type GivenMessages,
  noneGiven,
  type SentList,
  takeBack,
} from "./shared-messages.ts";

/** What the other side may ask for by name. */
export type Verbs = Record<string, (...given: never[]) => unknown>;

export interface Peer {
  /** Rejects with what the other side threw, or with why there is none any more. */
  call(verb: string, ...given: unknown[]): Promise<unknown>;
  /** Tells without waiting; what cannot be sent is dropped. */
  tell(verb: string, ...given: unknown[]): void;
  /** Every call that waits is rejected with `reason`. */
  close(reason: Error): void;
  isOpen(): boolean;
}

export interface PeerOptions {
  stream: Duplex;
  /** The host lends messages, the plugin's process borrows them. */
  role: "host" | "plugin";
  verbs: Verbs;
  /** The other side is gone. Calls wait on until `close` tells them why. */
  onEnd: () => void;
}

type Frame =
  | { kind: "call"; id: number; verb: string; given: unknown; within: number }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "failure"; id: number; error: SentError }
  | { kind: "abort"; signal: number; reason: SentError }
  | { kind: "forget"; messages: number[] }
  | { kind: "drop"; functions: number[] };

/** Stands in what is sent for what cannot be. */
const MARK = "\0clew";
type Marked =
  | { [MARK]: "function"; number: number }
  /** A function of whoever is told. */
  | { [MARK]: "own"; number: number }
  | { [MARK]: "signal"; number: number; reason: SentError | null }
  | { [MARK]: "messages"; list: SentList }
  | { [MARK]: "message"; list: SentList };

/** A call that the other side made, while it is answered here. */
interface Served {
  /** Its number there: what is called back from within it belongs to it. */
  id: number;
  /** The messages that came with it. */
  given: GivenMessages;
  isOver: boolean;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Runs what is called back in the context in which the call was made. */
  inContext: <Result>(work: () => Result) => Result;
  signals: Set<number>;
  /** The messages that went with it: answers name them by their place. */
  given: unknown[];
}

/** Deeper than any parameter of the contract. */
const MAX_DEPTH = 6;

export function createPeer({ stream, role, verbs, onEnd }: PeerOptions): Peer {
  const waiting = new Map<number, Waiting>();
  const own = new Map<number, (...given: unknown[]) => unknown>();
  const ownNumbers = new WeakMap<object, number>();
  const theirs = new WeakMap<object, number>();
  const signals = new Map<number, { controller: AbortController; uses: number }>();
  const signalNumbers = new WeakMap<AbortSignal, number>();
  const serving = new AsyncLocalStorage<Served>();
  const lender =
    role === "host" ? createLender((messages) => post({ kind: "forget", messages })) : undefined;
  const borrower = role === "plugin" ? createBorrower() : undefined;
  const dropped = new FinalizationRegistry<number>((number) =>
    post({ kind: "drop", functions: [number] }),
  );
  let next = 1;
  let closedBy: Error | undefined;
  const frames = openFrames(stream, {
    ...{ onValue: (value) => take(value as Frame), onEnd: end },
    ...(role === "host" ? { takes: PLUGIN_BYTES } : { sends: PLUGIN_BYTES }),
  });

  function end(): void {
    if (closedBy === undefined) onEnd();
  }

  function close(reason: Error): void {
    if (closedBy !== undefined) return;
    closedBy = reason;
    frames.close();
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
    for (const { controller } of signals.values()) controller.abort(reason);
  }

  function post(frame: Frame): void {
    if (closedBy === undefined) frames.send(frame);
  }

  function call(verb: string, ...given: unknown[]): Promise<unknown> {
    if (closedBy !== undefined) return Promise.reject(closedBy);
    const id = next++;
    const served = serving.getStore();
    const packing = { served, signals: new Set<number>(), given: [] };
    try {
      post({ kind: "call", id, verb, given: pack(given, packing), within: served?.id ?? 0 });
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      const { signals: sent, given: messages } = packing;
      const inContext = AsyncLocalStorage.snapshot();
      waiting.set(id, { resolve, reject, inContext, signals: sent, given: messages });
    });
  }

  function take(frame: Frame): void {
    switch (frame.kind) {
      case "call":
        void serve(frame);
        break;
      case "answer":
      case "failure": {
        const asked = waiting.get(frame.id);
        waiting.delete(frame.id);
        settle(asked, frame);
        for (const number of asked?.signals ?? []) {
          const held = lent.get(number);
          if (held !== undefined && --held.uses === 0) lent.delete(number);
        }
        break;
      }
      case "abort":
        signals.get(frame.signal)?.controller.abort(errorFrom(frame.reason, reasonOf));
        break;
      case "forget":
        borrower?.forget(frame.messages);
        break;
      case "drop":
        for (const number of frame.functions) own.delete(number);
    }
  }

  function settle(
    asked: Waiting | undefined,
    frame: Extract<Frame, { kind: "answer" | "failure" }>,
  ): void {
    try {
      if (frame.kind === "answer") asked?.resolve(unpack(frame.value, asked));
      else asked?.reject(errorFrom(frame.error, reasonOf));
    } catch (error) {
      asked?.reject(error);
    }
  }

  async function serve({ id, verb, given, within }: Extract<Frame, { kind: "call" }>) {
    const served: Served = { id, given: noneGiven(), isOver: false };
    const made: number[] = [];
    // What is called back from a call runs where that call was made.
    const asked = waiting.get(within);
    const inContext = asked?.inContext ?? ((work: () => unknown) => work());
    try {
      const unpacked = unpack(given, asked, { served, signals: made }) as never[];
      const run = verb === "function" ? runOwn : verbs[verb];
      if (run === undefined) throw new Error(`"${verb}" cannot be asked for here`);
      const value = await inContext(() => serving.run(served, () => run(...unpacked)));
      post({ kind: "answer", id, value: pack(value, { served }) });
    } catch (error) {
      post({ kind: "failure", id, error: sendableError(error, signalOf) });
    } finally {
      served.isOver = true;
      for (const number of made) {
        const held = signals.get(number);
        if (held !== undefined && --held.uses === 0) signals.delete(number);
      }
    }
  }

  function runOwn(number: number, given: unknown[]): unknown {
    const run = own.get(number);
    if (run === undefined) throw new Error("this function is not there any more");
    return run(...given);
  }

  /** A failure that is the reason of a signal is that very reason on the other side, too. */
  const signalOf = (error: unknown): number | undefined => {
    for (const [number, { controller }] of signals) {
      const { aborted, reason: thrown } = controller.signal;
      if (aborted && Object.is(thrown, error)) return number;
    }
    return undefined;
  };
  const lent = new Map<number, { signal: WeakRef<AbortSignal>; uses: number }>();
  const reasonOf = (number: number): unknown => lent.get(number)?.signal.deref()?.reason;

  interface Packing {
    /** The call of the other side that this answers, or is made for. */
    served?: Served | undefined;
    /** Filled with what is sent. */
    signals?: Set<number>;
    given?: unknown[];
  }

  function pack(value: unknown, packing: Packing, depth = 0, key = ""): unknown {
    if (typeof value === "function") return packFunction(value as never);
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof AbortSignal) return packSignal(value, packing);
    if (key === "messages" && Array.isArray(value))
      return { [MARK]: "messages", list: packList(value, packing) } satisfies Marked;
    if (key === "message")
      return { [MARK]: "message", list: packList([value], packing) } satisfies Marked;
    if (depth >= MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((item) => pack(item, packing, depth + 1));
    if (!isPlain(value)) return value;
    const packed: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value))
      packed[name] = pack(inner, packing, depth + 1, name);
    return packed;
  }

  function packList(list: readonly unknown[], { served, given }: Packing): SentList {
    if (lender !== undefined) {
      if (given !== undefined) for (const message of list) given.push(message);
      return lender.send(list);
    }
    return backList(list, served === undefined || served.isOver ? noneGiven() : served.given);
  }

  function packFunction(value: (...given: unknown[]) => unknown): Marked {
    const known = theirs.get(value);
    if (known !== undefined) return { [MARK]: "own", number: known };
    const number = ownNumbers.get(value) ?? next++;
    ownNumbers.set(value, number);
    own.set(number, value);
    return { [MARK]: "function", number };
  }

  function packSignal(signal: AbortSignal, packing: Packing): Marked {
    const number = signalNumbers.get(signal) ?? next++;
    const held = lent.get(number) ?? { signal: new WeakRef(signal), uses: 0 };
    if (packing.signals?.has(number) === false) held.uses++;
    lent.set(number, held);
    if (!signalNumbers.has(signal)) {
      signalNumbers.set(signal, number);
      const tell = () =>
        post({ kind: "abort", signal: number, reason: sendableError(signal.reason, signalOf) });
      if (!signal.aborted) signal.addEventListener("abort", tell, { once: true });
    }
    packing.signals?.add(number);
    const reason = signal.aborted ? sendableError(signal.reason, signalOf) : null;
    return { [MARK]: "signal", number, reason };
  }

  interface Unpacking {
    served: Served;
    signals: number[];
  }

  function unpack(value: unknown, asked?: Waiting, unpacking?: Unpacking, depth = 0): unknown {
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH + 1) return value;
    if (MARK in value) return unmark(value as Marked, asked, unpacking);
    if (!Array.isArray(value) && !isPlain(value)) return value;
    const holder = value as Record<string, unknown>;
    for (const [name, inner] of Object.entries(holder))
      if (typeof inner === "object") holder[name] = unpack(inner, asked, unpacking, depth + 1);
    return value;
  }

  function unmark(
    marked: Marked,
    asked: Waiting | undefined,
    unpacking: Unpacking | undefined,
  ): unknown {
    switch (marked[MARK]) {
      case "own":
        return own.get(marked.number);
      case "function":
        return stubOf(marked.number);
      case "signal":
        return controllerOf(marked, unpacking).signal;
      default: {
        const { list } = marked;
        const messages =
          borrower === undefined
            ? takeBack(list, asked?.given ?? [])
            : borrower.take(list, unpacking?.served.given);
        return marked[MARK] === "messages" ? messages : messages[0];
      }
    }
  }

  function stubOf(number: number): (...given: unknown[]) => Promise<unknown> {
    const stub = (...given: unknown[]) => call("function", number, given);
    theirs.set(stub, number);
    dropped.register(stub, number);
    return stub;
  }

  function controllerOf(
    { number, reason }: Extract<Marked, { [MARK]: "signal" }>,
    unpacking: Unpacking | undefined,
  ): AbortController {
    const held = signals.get(number) ?? { controller: new AbortController(), uses: 0 };
    signals.set(number, held);
    held.uses++;
    unpacking?.signals.push(number);
    if (reason !== null) held.controller.abort(errorFrom(reason, reasonOf));
    return held.controller;
  }

  return {
    ...{ call, close },
    isOpen: () => closedBy === undefined,
    tell(verb, ...given) {
      call(verb, ...given).catch(() => {});
    },
  };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype as object) === null;
}
