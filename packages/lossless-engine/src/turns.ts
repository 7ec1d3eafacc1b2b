// Gives others their turn between two pieces of work.

/** How long a piece may take, ms. */
const PIECE_MS = 8;

/** True once a piece that begins now has had its time. */
export function pieceOfTime(): () => boolean {
  const end = performance.now() + PIECE_MS;
  return () => performance.now() >= end;
}

export const othersTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
