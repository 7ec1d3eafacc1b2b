// What the people of generated dialogues can tell, and how they are asked for it.

/**
 * Lines of an exchange. "S" is who the topic is about, "O" the other one; behind "!" stands what
 * answers a question. {x} is the value, {N} a relative's name, {rel} what that one is.
 */
export type Exchange = readonly string[];

/** Something that happens to a person. */
export interface Topic {
  /** Ways to tell it. */
  tell: readonly Exchange[];
  /** Ways to ask for the value. {S} is the person's name. */
  ask: readonly string[];
  /** Ways to ask when it was. Absent: nobody does. */
  when?: readonly string[];
  /** Ways to ask for everything of the kind that was ever told. Absent: it happens once. */
  all?: readonly string[];
  /** Ways to ask for what happened in {month}. */
  inMonth?: readonly string[];
  values: readonly string[];
  /** Has the words, and tells nothing. */
  chaff: readonly string[];
}

/** Something that is told of a relative, who was introduced before. */
export interface Bridge {
  tell: readonly Exchange[];
  /** {S}'s {rel} is meant, whose name is not said. */
  ask: readonly string[];
  values: readonly string[];
}

/** A question that needs what somebody said of something else. */
export interface OpenTopic {
  tell: readonly Exchange[];
  ask: readonly string[];
}

/** One set of topics: nothing of it stands in another one. */
export interface TopicSet {
  speakers: readonly string[];
  relatives: readonly { rel: string; names: readonly string[] }[];
  introduce: readonly Exchange[];
  topics: readonly Topic[];
  bridges: readonly Bridge[];
  open: readonly OpenTopic[];
  smallTalk: readonly string[];
}
