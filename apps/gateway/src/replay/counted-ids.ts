// Gives the entries of a play ids that are the same every time.
import { contentHash } from "../text/content-hash.ts";

/**
 * Records of compactions name entries by their ids: random ones would make each play of a recording
 * a little larger or smaller than the one before.
 */
export function countedIds(): () => string {
  let count = 0;
  return () => contentHash(String(count++)).slice(0, 8);
}
