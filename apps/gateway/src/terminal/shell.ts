// The environment and the output that a command is given.
import type { Environment } from "../config/environment.ts";
import type { StrayErrors } from "../plugins/stray-errors.ts";
import type { Output } from "./output.ts";

export interface Shell {
  environment: Environment;
  output: Output;
  /** What nobody caught in this process; absent = it is not ours to look after. */
  strayErrors?: StrayErrors;
}
