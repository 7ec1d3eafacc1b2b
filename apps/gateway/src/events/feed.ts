// Sends events to one client as fast as it reads.

/** What there is for a client behind a place. */
export type Next =
  | { kind: "events"; bytes: Uint8Array; at: number }
  /** It missed some; these bytes tell it so, and what it needs to go on. */
  | { kind: "lost"; bytes: Uint8Array; at: number }
  /** It has all of them. */
  | { kind: "none"; at: number };

export interface Feed {
  body: ReadableStream<Uint8Array>;
  /** Something happened. */
  wake(): void;
  /** Proof of life for whoever waits; what does not read for `cutMs` is cut off. */
  beat(): void;
  end(): void;
}

export function createFeed({
  begin,
  next,
  beat,
  at: start,
  cutMs,
  onGone,
}: {
  /** Sent first. */
  begin: Uint8Array;
  at: number;
  next: (at: number) => Next;
  /** A sign of life, which says how far the client has come. */
  beat: (at: number) => Uint8Array;
  cutMs: number;
  /** Called once, however it ends. */
  onGone: () => void;
}): Feed {
  let at = start;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let waiting: (() => void) | undefined;
  let lastPull = performance.now();
  const wake = () => {
    waiting?.();
    waiting = undefined;
  };
  const gone = () => {
    if (controller === undefined) return;
    controller = undefined;
    wake();
    onGone();
  };
  const send = (bytes: Uint8Array) => {
    controller?.enqueue(bytes);
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(created) {
        controller = created;
        send(begin);
      },
      async pull() {
        lastPull = performance.now();
        // Settles when there is something: what a client asks for is not held for it before.
        while (controller !== undefined) {
          const found = next(at);
          at = found.at;
          if (found.kind !== "none") return send(found.bytes);
          await new Promise<void>((resolve) => {
            waiting = resolve;
          });
          if ((controller?.desiredSize ?? 0) <= 0) return;
        }
      },
      cancel: gone,
    },
    new CountQueuingStrategy({ highWaterMark: 1 }),
  );
  return {
    body,
    wake,
    beat() {
      if (waiting !== undefined) {
        send(beat(at));
        wake();
      } else if (performance.now() - lastPull > cutMs) {
        controller?.error(new Error("The client does not read what it is sent."));
        gone();
      }
    },
    end() {
      const found = controller === undefined ? undefined : next(at);
      if (found !== undefined && found.kind !== "none") send(found.bytes);
      controller?.close();
      gone();
    },
  };
}
