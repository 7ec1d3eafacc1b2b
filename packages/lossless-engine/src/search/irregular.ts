// Other forms of English words whose endings tell nothing of them.

const FORMS: readonly (readonly string[])[] =
  `be been|become became|begin began begun|break broke broken|bring brought|build built|buy bought|catch caught|choose chose chosen|come came|
  cost costs|cut cuts|do did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feel felt|fight fought|
  find found|fly flew flown|forget forgot forgotten|get got gotten|give gave given|go went gone|grow grew grown|have had|hear heard|hide hid hidden|
  hold held|keep kept|know knew known|lead led|leave left|lend lent|lose lost|make made|mean meant|meet met|pay paid|read reads|ride rode ridden|
  ring rang rung|rise rose risen|run ran|say said|see saw seen|sell sold|send sent|sing sang sung|sit sat|sleep slept|speak spoke spoken|
  spend spent|stand stood|steal stole stolen|swim swam swum|take took taken|teach taught|tell told|think thought|throw threw thrown|
  understand understood|wake woke woken|wear wore worn|win won|write wrote written|child children|man men|woman women|person people|wife wives|
  life lives|foot feet|mouse mice`
    .split("|")
    .map((forms) => forms.trim().split(" "));

const BY_FORM: ReadonlyMap<string, readonly string[]> = new Map(
  FORMS.flatMap((forms) => forms.map((form) => [form, forms] as const)),
);

/** `word` in lower case; none for a word that is regular. */
export const otherForms = (word: string): readonly string[] =>
  (BY_FORM.get(word) ?? []).filter((form) => form !== word);
