// The clock of this machine.
import type { ClockPort } from "@clew/engine-core";

export const systemClock: ClockPort = { now: () => Date.now(), monotonic: () => performance.now() };
