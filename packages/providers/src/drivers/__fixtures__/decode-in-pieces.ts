// Decodes an answer that arrives in pieces, as a connection would deliver it.
import type { StreamEvent } from "@clew/plugin-sdk/host";
import type { DecoderOptions, WireDriver } from "../../provider.ts";

/** `cuts` are where a piece ends; none = all bytes at once. It is 1000 ms by the clock. */
export function decodeInPieces(
  driver: WireDriver,
  bytes: Uint8Array,
  { cuts = [], ...options }: Omit<DecoderOptions, "now"> & { cuts?: readonly number[] },
): StreamEvent[] {
  const decoder = driver.createDecoder({ ...options, now: () => 1000 });
  const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
  const events = edges
    .slice(1)
    .flatMap((end, index) => decoder.push(bytes.subarray(edges[index], end)));
  return [...events, ...decoder.end()];
}
