// Every driver there is; written by `pnpm run docs` from the folder drivers.
import { offline } from "./drivers/offline.ts";
import { openaiCompletions } from "./drivers/openai-completions.ts";
import type { Driver } from "./provider.ts";

export const DRIVER_TABLE: readonly Driver[] = [offline, openaiCompletions];
