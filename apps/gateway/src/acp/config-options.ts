// What a person may choose for a session in an editor.
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import { THINKING_LEVELS } from "../config/params.ts";
import type { Mode, ModeId } from "../editors/modes.ts";

export const OPTION_IDS = ["mode", "model", "thinking", "engine"] as const;
export type OptionId = (typeof OPTION_IDS)[number];

/** What leaves it to the settings. */
export const BY_SETTINGS = "default";

export interface Choices {
  modes: readonly Mode[];
  mode: ModeId;
  /** "provider/model". */
  models: readonly string[];
  model: { chosen: string | null; settings: string };
  /** Null: the settings decide. */
  thinking: string | null;
  /** Registered ids. */
  engines: readonly string[];
  engine: { chosen: string | null; settings: string };
}

/** Pure. */
export const planModeState = ({
  modes,
  mode,
}: Pick<Choices, "modes" | "mode">): SessionModeState => ({
  currentModeId: mode,
  availableModes: modes.map((each) => ({ ...each })),
});

/** Pure. */
export function planOptions(choices: Choices): SessionConfigOption[] {
  const { modes, mode, model, thinking, engine } = choices;
  return [
    {
      ...{ type: "select", id: "mode" satisfies OptionId, name: "Mode", category: "mode" },
      description: "What tools may do without a question.",
      currentValue: mode,
      options: modes.map(({ id, name, description }) => ({ value: id, name, description })),
    },
    {
      ...{ type: "select", id: "model" satisfies OptionId, name: "Model", category: "model" },
      description: "Who answers in this session.",
      currentValue: model.chosen ?? BY_SETTINGS,
      options: [
        { value: BY_SETTINGS, name: `As the settings say (${model.settings})` },
        ...named(choices.models, model.chosen),
      ],
    },
    {
      ...{ type: "select", id: "thinking" satisfies OptionId, name: "Thinking" },
      category: "thought_level",
      description: "How hard the model thinks.",
      currentValue: thinking ?? BY_SETTINGS,
      options: [
        { value: BY_SETTINGS, name: "As the settings say" },
        ...named(THINKING_LEVELS, thinking),
      ],
    },
    {
      ...{ type: "select", id: "engine" satisfies OptionId, name: "Context engine" },
      category: "_engine",
      description: "Who chooses what the model is shown of the session.",
      currentValue: engine.chosen ?? BY_SETTINGS,
      options: [
        { value: BY_SETTINGS, name: `As the settings say (${engine.settings})` },
        ...named(choices.engines, engine.chosen),
      ],
    },
  ];
}

/** Also what is chosen and not offered any more. */
const named = (values: readonly string[], chosen: string | null) =>
  [...new Set([...values, ...(chosen === null ? [] : [chosen])])].map((value) => ({
    ...{ value, name: value },
  }));
