// Versions that the server reports. The feature level only increases; the changelog is ordered by it.

export const featureLevel = 417
/** Release in the numbering of the API family; natter's own version is in package.json. */
export const svcVersion = '12.0-natter'
export const svcMergeBase = '12.0-natter'
