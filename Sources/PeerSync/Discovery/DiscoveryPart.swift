/// The two parts of discovery, each of which may fail.
enum DiscoveryPart {
    case announcing, finding
}
