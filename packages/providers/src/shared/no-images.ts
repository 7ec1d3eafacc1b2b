// What a model that takes no images is shown in the place of one.
export const NO_IMAGES = "[image left out: this model takes no images]";
