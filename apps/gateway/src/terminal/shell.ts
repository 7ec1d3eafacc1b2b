// What a command knows of the world outside: its environment, and to whom it speaks.
import type { Environment } from "../config/environment.ts";
import type { Output } from "./output.ts";

export interface Shell {
  environment: Environment;
  output: Output;
}
