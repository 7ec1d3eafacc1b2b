// Shares a total out among parts of which only estimates are known.

/** Whole shares of `total`, as the parts were estimated; parts with all of `estimate` get all. */
export const shareOut =
  (total: number, estimate: number) =>
  <Part extends { tokens: number }>(parts: readonly Part[]): Part[] => {
    let seen = 0;
    const upTo = () => (estimate > 0 ? Math.round((total * seen) / estimate) : 0);
    return parts.map((part) => {
      const before = upTo();
      seen += part.tokens;
      return { ...part, tokens: upTo() - before };
    });
  };
