// What a gateway and the process that plays for it tell each other.
import type { LoadedConfig } from "../config/load.ts";
import type { WhatIfAsk, WhatIfEvent } from "../inspect/shapes.ts";

/** All that there is to know; nothing of it is a function. */
export interface LabOrder {
  home: string;
  configFile: string;
  /** Settings in force in the gateway. */
  loaded: Pick<LoadedConfig, "config" | "raw">;
  session: string;
  /** An empty folder; the gateway removes it. */
  place: string;
  ask: WhatIfAsk;
}

export type LabTold = WhatIfEvent;
