arrayFilter(
    part -> part.2 != '' AND has({by:Array(String)}, part.1),
    [
        ('slice', toString(slice)),
        ('tenant', toString(tenant)),
        ('locale', toString(locale)),
        ('language', lower(splitByRegexp('[-_.]', toString(locale))[1])),
        ('tier', transform(toString(tenant), {tenants:Array(String)}, {tiers:Array(String)}, {other_tier:String})),
        ('topic', topic)
    ]
)
