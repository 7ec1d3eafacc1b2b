// What Claude models differ in, as far as their name tells.

export interface ModelTraits {
  /** Signatures hold only in the conversation they were made in. */
  bindsPrefix: boolean;
  /** Thinking cannot be turned off, and takes no budget. */
  alwaysThinks: boolean;
  /** Thinking takes no budget. */
  adaptiveOnly: boolean;
  /** A conversation may end with the beginning of an answer. */
  takesPrefill: boolean;
  /** A message of the conversation may be of role system. */
  takesSystemMessages: boolean;
}

/** Of a model that is no Claude: as little as possible is forbidden. */
const OTHER: ModelTraits = {
  bindsPrefix: false,
  alwaysThinks: false,
  adaptiveOnly: false,
  takesPrefill: true,
  takesSystemMessages: false,
};

const NAME = /claude-(?:(opus|sonnet|haiku|fable|mythos)-)?(\d)(?:[-.](\d{1,2}))?(?!\d)/;

export function modelTraits(model: string): ModelTraits {
  const [, family = "", major, minor = "0"] = NAME.exec(model) ?? [];
  if (major === undefined) return OTHER;
  const version = Number(major) + Number(minor) / 10;
  const isOfMyths = family === "fable" || family === "mythos";
  return {
    bindsPrefix: version >= 5.5 || (isOfMyths && version >= 5.1),
    alwaysThinks: (isOfMyths && version >= 5) || (family === "opus" && version >= 5.5),
    adaptiveOnly: (isOfMyths && version >= 5) || version >= 5.5,
    takesPrefill: version < 4.6,
    takesSystemMessages: version >= 4.8,
  };
}

/** The name without the date of its release: snapshots of one model read each other's thinking. */
export const lineOf = (model: string): string => model.replace(/[-@]20\d{6}$/, "");
