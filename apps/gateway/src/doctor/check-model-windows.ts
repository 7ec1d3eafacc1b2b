// Says which windows were learned from providers' refusals.

import { silentLog } from "../log/silent.ts";
import { createModelWindows } from "../models/model-windows.ts";
import { number } from "../text/number.ts";
import type { Finding } from "./finding.ts";

export function checkModelWindows(home: string): Finding[] {
  return Object.entries(createModelWindows({ home, log: silentLog }).all()).map(
    ([model, { tokens, at }]) => ({
      level: "note",
      code: "learned-window",
      subject: "window",
      text: `${model} holds ${number(tokens)} tokens, as its provider said on ${at.slice(0, 10)}; forget it: clew models forget ${model}`,
    }),
  );
}
