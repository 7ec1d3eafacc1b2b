// Finds out that a client did not take an answer, even where it was written to the end.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { wholeRound } from "../whole-round.ts";

/** How long after its end an answer may turn out to be lost, and a client may take to close, ms. */
const KNOWN_WITHIN_MS = 2000;

/** What is watched at each connection: its next request says that the answer before was taken. */
const watched = new WeakMap<Socket, () => void>();

export interface LossWatch {
  /** Its client has closed its side before the end, or was not there for all of it. */
  onLeft(): void;
}

/**
 * What was written is with the system, not with the client. One that closes before it has read all
 * of it resets the connection, and who has read it closes it in order, or asks the next thing.
 */
export function watchLoss(outgoing: ServerResponse, { onLeft }: LossWatch): void {
  const { socket } = outgoing.req;
  watched.get(socket)?.();
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(timer);
    socket.off("error", left).off("end", closed).off("close", stop);
    if (watched.get(socket) === stop) watched.delete(socket);
  };
  const left = () => {
    stop();
    onLeft();
  };
  const closed = () => {
    if (!outgoing.writableFinished) return left();
    // Where it closed first and was reset by the end, a write of nothing fails.
    if (socket.writable) socket.write("");
  };
  watched.set(socket, stop);
  // Before the server's own listener, which closes this side.
  socket.prependOnceListener("end", closed).once("error", left).once("close", stop);
  outgoing.once("close", () => {
    timer = setTimeout(stop, KNOWN_WITHIN_MS).unref();
  });
  socket.destroySoon = () => closeInOrder(socket);
}

/** Waits for the other side: of what is closed here nobody hears that it was reset. */
function closeInOrder(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), KNOWN_WITHIN_MS).unref();
  socket.once("close", () => clearTimeout(timer));
  void wholeRound().then(() => socket.end());
}
