// Says which settings of the door name what is not there, for the doctor.
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { type DoorMistake, mistakenDoorSettings } from "../door/upstream/mistaken-settings.ts";
import type { Finding } from "./finding.ts";

export const checkDoor = (
  environment: Environment,
  { config }: Pick<LoadedConfig, "config">,
): Finding[] =>
  mistakenDoorSettings(config, environment).map(
    ({ kind, text }): Finding => ({ ...TOLD_AS[kind], subject: "door", text }),
  );

/** Without its provider a wire answers nobody. */
const TOLD_AS = {
  provider: { level: "failure", code: "door-provider-unknown" },
  model: { level: "warning", code: "door-model-unusable" },
  agent: { level: "warning", code: "door-agent-unknown" },
} as const satisfies Record<DoorMistake["kind"], Pick<Finding, "level" | "code">>;
