// Sends values over a stream between two processes, each as one frame.
import type { Duplex } from "node:stream";
import { deserialize, serialize } from "node:v8";

const HEADER_BYTES = 4;
/** More in one frame is a mistake; Node allows no larger buffers anyway. */
const MAX_BYTES = 2 ** 31 - 1;

export interface Frames {
  /** Throws what cannot be sent: a function, or more than a frame holds. */
  send(value: unknown): void;
  /** No more is sent or read. */
  close(): void;
}

/**
 * What a plugin's process may send in one: no view may have more than half as many characters. The
 * host sends whole sessions.
 */
export const PLUGIN_BYTES = 2 ** 27;

export interface FrameOptions {
  onValue: (value: unknown) => void;
  /** Called once, when the other side is gone or sends what no frame is. */
  onEnd: () => void;
  /** Longest that is sent. Absent: what Node allows. */
  sends?: number;
  /** Longest that is taken. Absent: what Node allows. */
  takes?: number;
}

export function openFrames(
  stream: Duplex,
  { onValue, onEnd, sends = MAX_BYTES, takes = MAX_BYTES }: FrameOptions,
): Frames {
  let pieces: Buffer[] = [];
  let held = 0;
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    stream.destroy();
    onEnd();
  };
  stream.on("data", (piece: Buffer) => {
    pieces.push(piece);
    held += piece.length;
    if (held < HEADER_BYTES) return;
    let whole = pieces.length === 1 ? piece : undefined;
    const next = lengthOf(pieces);
    if (next > takes) return end();
    const need = HEADER_BYTES + next;
    // A large frame comes in many pieces: they are joined once.
    if (held < need) return;
    whole ??= Buffer.concat(pieces, held);
    let at = 0;
    while (whole.length - at >= HEADER_BYTES) {
      const length = whole.readUInt32LE(at);
      if (length > takes) return end();
      if (whole.length - at - HEADER_BYTES < length) break;
      const body = whole.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
      at += HEADER_BYTES + length;
      try {
        onValue(deserialize(body));
      } catch {
        return end();
      }
      if (isOver) return;
    }
    const rest = whole.subarray(at);
    pieces = rest.length === 0 ? [] : [rest];
    held = rest.length;
  });
  stream.on("error", end);
  stream.on("close", end);
  stream.on("end", end);
  return {
    send(value) {
      if (isOver) return;
      const body = serialize(value);
      if (body.length > sends)
        throw new Error(`${body.length} bytes are too many to be sent, ${sends} are allowed`);
      const header = Buffer.allocUnsafe(HEADER_BYTES);
      header.writeUInt32LE(body.length);
      stream.cork();
      stream.write(header);
      stream.write(body);
      stream.uncork();
    },
    close: end,
  };
}

/** Of the frame that begins; the first bytes may stand in several pieces. */
function lengthOf(pieces: readonly Buffer[]): number {
  const [first] = pieces;
  if (first!.length >= HEADER_BYTES) return first!.readUInt32LE(0);
  return Buffer.concat(pieces).readUInt32LE(0);
}
