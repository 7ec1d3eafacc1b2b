// Passes an answer on byte for byte while it comes.

import type { UpstreamAnswer } from "../../passing/ask-upstream.ts";
import { headersBack } from "../../passing/pass-headers.ts";
import type { RawHeaders } from "../../passing/raw-headers.ts";
import type { DoorOutlet } from "../call/door-call.ts";

/** "gone": whoever asked does not listen any more · "broken": the model server gave up. */
export type RelayEnd = "whole" | "broken" | "gone";

/**
 * `peek` sees each piece before it is passed on, which waits for it. An answer that breaks off
 * breaks off here, too: clients repeat what they cannot tell from a whole answer only if they can.
 */
export async function relay(
  { status, headers, bytes }: UpstreamAnswer,
  outlet: DoorOutlet,
  { more = [], peek }: { more?: RawHeaders; peek?: (piece: Uint8Array) => unknown } = {},
): Promise<RelayEnd> {
  outlet.begin(status, [...headersBack(headers), ...more]);
  try {
    for await (const piece of bytes) {
      await peek?.(piece);
      if (outlet.gone.aborted) return "gone";
      await outlet.write(piece);
      await outlet.hasTaken();
    }
  } catch {
    return outlet.gone.aborted ? "gone" : "broken";
  }
  return outlet.gone.aborted ? "gone" : "whole";
}
