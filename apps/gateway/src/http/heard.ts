// Knows of an answer that another gateway passes on whether its client had all of it.
import type { Socket } from "node:net";

/**
 * Of a request that is handed on: "awaited" = whoever hands it on tells on the same connection when
 * its client has all of the answer; "all" = it has.
 */
export const HEARD = "x-clew-heard";

/** What is done when a connection ends on which it was not told. */
const awaited = new WeakMap<Socket, () => void>();

/** `onLost` is called once, unless `markHeard` is called for the connection before it ends. */
export function awaitHeard(socket: Socket, onLost: () => void): void {
  if (socket.destroyed) {
    onLost();
    return;
  }
  const lost = () => {
    awaited.delete(socket);
    onLost();
  };
  awaited.set(socket, lost);
  socket.once("close", lost);
}

export function markHeard(socket: Socket): void {
  const lost = awaited.get(socket);
  if (lost !== undefined) socket.off("close", lost);
  awaited.delete(socket);
}
