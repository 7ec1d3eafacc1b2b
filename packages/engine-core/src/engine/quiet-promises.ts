// Keeps a promise that nobody reads from ending the process when it is rejected.
import { isRecord } from "@clew/plugin-sdk/host";
import { readQuietly } from "./describe-error.ts";

/** For the own fields of what an engine handed over; getters are not asked, and nothing throws. */
export function quietPromises(value: unknown): void {
  readQuietly(() => {
    if (!isRecord(value)) return;
    for (const { value: field } of Object.values(Object.getOwnPropertyDescriptors(value)))
      if (field instanceof Promise) Promise.prototype.then.call(field, undefined, () => {});
  });
}
