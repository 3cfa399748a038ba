// Versions that the server reports. The feature level only increases; the changelog is ordered by it.

export const featureLevel = 417
/** The release of the API family that has this level, with our name; natter's own version is in package.json. */
export const svcVersion = '11.0-dev-natter'
export const svcMergeBase = svcVersion
