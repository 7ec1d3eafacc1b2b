// The environment and the output that a command is given.
import type { Environment } from "../config/environment.ts";
import type { Output } from "./output.ts";

export interface Shell {
  environment: Environment;
  output: Output;
}
